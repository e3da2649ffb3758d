/// A queue of typed messages from a chain of interceptors, on the loop, to the one task that reads them.
///
/// If the other side sends on request, the queue requests a window of messages, and more when half of it has been read.
@usableFromInline
package final class PartQueue<Message: Sendable>: Sendable {
  /// `extra` is the number of messages that were requested and have not arrived.
  @usableFromInline typealias Messages = BoundedQueue<Message, Int>

  /// How many unread messages make the network wait.
  @usableFromInline static var limit: Int { 16 }

  @usableFromInline let queue = Messages(0)
  @usableFromInline let demand: (@Sendable (Int) -> Void)?

  /// `demand` requests more messages from the other side.
  @inlinable
  package init(demand: (@Sendable (Int) -> Void)? = nil) { self.demand = demand }

  /// Returns how many messages to request now.
  @inlinable
  func takeDemand(_ state: inout Messages.State) -> Int {
    let missing = Self.limit - state.extra - state.held
    guard demand != nil, state.end == nil, missing >= Self.limit / 2 else { return 0 }
    state.extra += missing
    return missing
  }

  // MARK: On the loop

  /// Requests the first messages.
  @usableFromInline
  package func open() {
    guard let demand else { return }
    let count = queue.state.withLock { takeDemand(&$0) }
    if count > 0 { demand(count) }
  }

  @inlinable
  package func push(_ message: Message) {
    let (reader, count): (Messages.Reader?, Int) = queue.state.withLock { state in
      guard state.end == nil else { return (nil, 0) }
      if state.extra > 0 { state.extra -= 1 }
      guard let reader = state.push(message, cost: 1) else { return (nil, 0) }
      return (reader, takeDemand(&state))
    }
    reader?.resume(returning: message)
    if count > 0 { demand?(count) }
  }

  /// Ends the messages. The reader gets `failure` after reading those pushed before.
  @inlinable
  package func finish(_ failure: GRPCStatus?) {
    if queue.state.withLock({ $0.finish(failure) }) { queue.wake() }
  }

  /// Waits until only a few messages are unread.
  @usableFromInline
  package nonisolated(nonsending) func waitUntilWritable() async throws {
    try await queue.waitToWrite(below: Self.limit)
  }

  /// The same after a message of this size; after a large one, all messages must be read.
  @usableFromInline
  nonisolated(nonsending) func waitUntilWritable(afterBytes byteCount: Int) async throws {
    try await queue.waitToWrite(below: byteCount > 16 * 1024 ? 1 : Self.limit)
  }

  // MARK: The reader

  @inlinable
  nonisolated(nonsending) func next() async throws -> Message? {
    while true {
      let (popped, writers, count) = queue.state.withLock { state in
        (state.pop { _ in 1 }, state.takeWriters(), takeDemand(&state))
      }
      for writer in writers { writer.resume() }
      if count > 0 { demand?(count) }
      if let popped { return try popped.get() }
      if let message = try await queue.waitToRead() { return message }
    }
  }
}
