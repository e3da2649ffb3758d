/// The state of a queue of parts in addition to its messages.
@usableFromInline
struct PartQueueExtra: Sendable {
  @usableFromInline typealias Kept = AnyObject & Sendable

  /// The number of messages that were requested and have not arrived.
  @usableFromInline var requested = 0
  /// What keeps the next message that arrives, which is large.
  @usableFromInline var arriving: (any Kept)?
  /// What keeps an unread message, and the number of those that are read before.
  private var kept: (object: any Kept, before: Int)?

  @usableFromInline init() {}

  /// The message has arrived behind so many others.
  @usableFromInline
  mutating func keepArriving(behind before: Int) {
    kept = arriving.map { ($0, before) }
    arriving = nil
  }

  /// What keeps the message that was just read, if anything does.
  @usableFromInline
  mutating func takeKept() -> (any Kept)? {
    guard let (object, before) = kept else { return nil }
    kept = before == 0 ? nil : (object, before - 1)
    return before == 0 ? object : nil
  }
}

/// A queue of typed messages from a chain of interceptors, on the loop, to the one task that reads them.
///
/// If the other side sends on request, the queue requests a window of messages, and more when half of it has been read.
@usableFromInline
package final class PartQueue<Message: Sendable>: Sendable {
  @usableFromInline typealias Messages = BoundedQueue<Message, PartQueueExtra>

  /// How many unread messages make the network wait.
  @usableFromInline static var limit: Int { 16 }

  @usableFromInline let queue = Messages(PartQueueExtra())
  @usableFromInline let demand: (@Sendable (Int) -> Void)?
  @usableFromInline let failed: (@Sendable () -> Void)?

  /// `demand` requests more messages from the other side. `failed` is called by a reader that gets a failure.
  @inlinable
  package init(demand: (@Sendable (Int) -> Void)? = nil, failed: (@Sendable () -> Void)? = nil) {
    self.demand = demand
    self.failed = failed
  }

  /// Returns how many messages to request now.
  @inlinable
  func takeDemand(_ state: inout Messages.State) -> Int {
    let missing = Self.limit - state.extra.requested - state.held
    guard demand != nil, state.end == nil, missing >= Self.limit / 2 else { return 0 }
    state.extra.requested += missing
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

  /// Sets what keeps the next message that arrives, until its reader is done with it: the reader is not the one who
  /// releases a large message. With `nil`, nothing does.
  @usableFromInline
  func keepNext(_ object: (any AnyObject & Sendable)?) {
    queue.state.withLock { $0.extra.arriving = object }
  }

  @inlinable
  package func push(_ message: Message) {
    let (reader, isHanded, count): (Messages.Reader?, Bool, Int) = queue.state.withLock { state in
      guard state.end == nil else { return (nil, false, 0) }
      if state.extra.requested > 0 { state.extra.requested -= 1 }
      if state.extra.arriving != nil {
        state.extra.keepArriving(behind: state.elements.count)
        state.append(message, cost: 1)
        return (state.takeReader(), false, 0)
      }
      guard let reader = state.push(message, cost: 1) else { return (nil, false, 0) }
      return (reader, true, takeDemand(&state))
    }
    reader?.resume(returning: isHanded ? message : nil)
    if count > 0 { demand?(count) }
  }

  /// Ends the messages. The reader gets `failure` after reading those pushed before.
  @inlinable
  package func finish(_ failure: GRPCStatus?) {
    if queue.state.withLock({ $0.finish(failure) }) { queue.wake() }
  }

  /// Ends the messages for its reader now: those that are unread are dropped, and every read gets `failure`.
  func abort(_ failure: GRPCStatus) {
    _ = queue.state.withLock { $0.finish(failure, discarding: true) }
    queue.wake()
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

  /// Whether a reader waits, for a message or the end.
  var isAwaited: Bool { queue.state.withLock { $0.reader != nil && $0.end == nil } }

  // MARK: The reader

  @inlinable
  nonisolated(nonsending) func next(_ reading: inout SharedReading) async throws -> Message? {
    reading.readsOn()
    while true {
      let (popped, kept, writers, count) = queue.state.withLock { state in
        let popped = state.pop { _ in 1 }
        let kept = popped == nil ? nil : state.extra.takeKept()
        return (popped, kept, state.takeWriters(), takeDemand(&state))
      }
      if let kept { reading.large = kept }
      for writer in writers { writer.resume() }
      if count > 0 { demand?(count) }
      if let popped {
        if case .failure = popped { failed?() }
        return try popped.get()
      }
      if let message = try await queue.waitToRead() { return message }
    }
  }
}
