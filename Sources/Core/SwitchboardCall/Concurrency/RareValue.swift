import Synchronization

/// A value that any thread may set, for owners that seldom need it: until then it takes no lock.
@frozen
@usableFromInline
package struct RareValue<Value: Sendable>: ~Copyable, Sendable {
  @usableFromInline final class Box: Sendable {
    let value: Locked<Value>

    init(_ value: Value) { self.value = Locked(value) }
  }

  @usableFromInline let box = AtomicLazyReference<Box>()
  /// Costs less to read than the reference, whose code is not specialized.
  @usableFromInline let isSet = Atomic(false)

  // Inlined, because code that is not specialized would look up the type of the box for each owner.
  @inlinable @inline(__always)
  package init() {}

  @inlinable @inline(__always)
  package var value: Value? { isSet.load(ordering: .acquiring) ? boxed : nil }

  @inlinable @inline(__always) var isEmpty: Bool { !isSet.load(ordering: .acquiring) }

  @usableFromInline var boxed: Value? { box.load()?.value.withLock { $0 } }

  /// Changes the value, which starts as `first`.
  package borrowing func change(from first: @autoclosure () -> Value, _ change: (inout Value) -> Void) {
    (box.load() ?? box.storeIfNil(Box(first()))).value.withLock { change(&$0) }
    isSet.store(true, ordering: .releasing)
  }
}
