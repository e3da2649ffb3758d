import Synchronization

/// A number of handlers of one method, of all its servers' connections.
final class HandlerCount: Sendable {
  private let count = Atomic(0)

  var current: Int { count.load(ordering: .relaxed) }
  func add(_ handlers: Int) { count.add(handlers, ordering: .relaxed) }
  func remove(_ handlers: Int) { count.subtract(handlers, ordering: .relaxed) }
}
