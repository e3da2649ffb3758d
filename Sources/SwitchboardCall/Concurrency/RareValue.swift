import Synchronization

/// A value that any thread may set, for owners that seldom need it: until then it takes no lock.
@usableFromInline
package struct RareValue<Value: Sendable>: ~Copyable, Sendable {
  private final class Box: Sendable {
    let value: Locked<Value>

    init(_ value: Value) { self.value = Locked(value) }
  }

  private let box = AtomicLazyReference<Box>()
  /// Costs less to read than the reference, whose code is not specialised.
  @usableFromInline let isSet = Atomic(false)

  @usableFromInline
  package init() {}

  @inlinable @inline(__always)
  package var value: Value? { isSet.load(ordering: .acquiring) ? boxed : nil }

  @usableFromInline var boxed: Value? { box.load()?.value.withLock { $0 } }

  /// Changes the value, which starts as `first`.
  package borrowing func change(from first: @autoclosure () -> Value, _ change: (inout Value) -> Void) {
    (box.load() ?? box.storeIfNil(Box(first()))).value.withLock { change(&$0) }
    isSet.store(true, ordering: .releasing)
  }
}
