import Synchronization

/// A value behind a lock.
///
/// A `Mutex`, and beside it an atomic that carries the order from one holder to the next: the standard
/// library's lock is not built with the thread sanitizer, which without the atomic would take every two
/// accesses for a race. On the processors we know the atomic costs nothing measurable.
@usableFromInline
package struct Locked<Value: Sendable>: ~Copyable, Sendable {
  @usableFromInline let mutex: Mutex<Value>
  @usableFromInline let turns = Atomic(0)

  @inlinable
  package init(_ value: Value) {
    mutex = Mutex(value)
  }

  @inlinable
  package borrowing func withLock<Result>(_ body: (inout Value) throws -> Result) rethrows -> Result {
    try mutex.withLock { value in
      let turn = turns.load(ordering: .acquiring)
      defer { turns.store(turn &+ 1, ordering: .releasing) }
      return try body(&value)
    }
  }
}
