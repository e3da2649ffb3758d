import Synchronization

/// A value behind a lock.
///
/// It is a `Mutex` plus an atomic that orders the accesses for the thread sanitizer. The standard library's lock is not
/// built with the sanitizer, which would otherwise report every pair of accesses as a race. The atomic's cost is too
/// small to measure.
@usableFromInline
package struct Locked<Value: Sendable>: ~Copyable, Sendable {
  @usableFromInline let mutex: Mutex<Value>
  /// It orders by being read and written; its value means nothing.
  @usableFromInline let order = Atomic(false)

  @inlinable
  package init(_ value: consuming Value) {
    mutex = Mutex(value)
  }

  @inlinable
  package borrowing func withLock<Result>(_ body: (inout Value) throws -> Result) rethrows -> Result {
    try mutex.withLock { value in
      _ = order.load(ordering: .acquiring)
      defer { order.store(true, ordering: .releasing) }
      return try body(&value)
    }
  }
}
