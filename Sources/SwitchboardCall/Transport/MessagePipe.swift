import Synchronization

/// A bounded queue of messages between a transport and the code that makes or serves a call.
///
/// One side pushes, the other pops, each from any thread. A writer waits while unread messages use `limit` bytes of
/// memory or more, which is their bytes and about a hundred for each. So a slow reader slows down a fast writer, even
/// across the network.
@usableFromInline package final class MessagePipe: Sendable {
  /// Notifies the transport at one end. Called without locks, on the thread that caused the event.
  @usableFromInline package protocol Observer: AnyObject, Sendable {
    /// A message or the end can be popped, for the first time since the pipe was empty.
    func pipeBecameReadable(_ pipe: MessagePipe)
    /// A message of this size was popped.
    func pipe(_ pipe: MessagePipe, released byteCount: Int)
  }

  @usableFromInline package enum Popped: Sendable {
    case message(MessageBuffer)
    /// Nothing yet.
    case empty
    /// The end.
    case end
    /// The end, because of this failure.
    case failed(GRPCStatus)
  }

  /// The state of a pipe in addition to its messages.
  struct Extra {
    /// Why the pipe ended, if a message exceeded its limit.
    var refusal: GRPCStatus?
    var totals = MessageTotals()
    /// Messages were pushed without a flush, and the observer was not notified.
    var isHeldBack = false
    /// The writer has finished, however the call ends after that.
    var isFinished = false
    var observer: (any Observer)?
  }

  typealias Messages = BoundedQueue<MessageBuffer, Extra>

  let queue = Messages(Extra())
  private let limit: Int
  private let messageLimit = Atomic(Int.max)

  /// A pipe whose writer waits while unread messages use `limit` bytes of memory or more.
  @usableFromInline package init(limit: Int) {
    self.limit = limit
  }

  // MARK: The transport's view

  /// Retains the observer until `detach`, which its owner calls when the call has ended.
  @usableFromInline package func attach(_ observer: any Observer) {
    let isReadable = queue.state.withLock { state in
      state.extra.observer = observer
      return state.isReadable
    }
    if isReadable { observer.pipeBecameReadable(self) }
  }

  @usableFromInline package func detach() {
    queue.state.withLock { $0.extra.observer = nil }
  }

  /// A message of more than `byteCount` bytes ends the pipe. Set by a transport before the first message.
  @usableFromInline package func limitMessages(to byteCount: Int) {
    messageLimit.store(byteCount, ordering: .relaxed)
  }

  /// What has been pushed so far, including its framing.
  @usableFromInline package var totals: MessageTotals { queue.state.withLock { $0.extra.totals } }

  /// Why the pipe ended, if a message exceeded its limit.
  package var refusal: GRPCStatus? { queue.state.withLock { $0.extra.refusal } }

  /// Whether a writer need not wait.
  @usableFromInline package var hasRoom: Bool { queue.state.withLock { $0.held < limit } }

  /// Whether the reader has caught up enough to be brought more from outside the pipe.
  package var hasMuchRoom: Bool { queue.state.withLock { $0.held <= limit / 2 } }

  @usableFromInline package var hasEnded: Bool { queue.state.withLock { $0.end != nil } }

  // MARK: Writing

  /// Adds a message, unless the pipe has ended. Returns `false` if it has, or if it is full now: the writer should
  /// wait, which throws if the pipe has ended.
  ///
  /// A message without `flush` may stay until another is flushed, or until the pipe is full or ends.
  @discardableResult
  @usableFromInline package func push(_ message: MessageBuffer, flush: Bool = true) -> Bool {
    let byteCount = message.byteCount
    let messageLimit = messageLimit.load(ordering: .relaxed)
    guard byteCount <= messageLimit else {
      refuse(.messageTooLarge(byteCount, limit: messageLimit))
      return false
    }
    // A waiting reader gets it; otherwise the observer is notified, unless it already was.
    let (reader, observer, hasRoom): (Messages.Reader?, (any Observer)?, Bool) =
      queue.state.withLock { state in
        guard state.end == nil else { return (nil, nil, false) }
        state.extra.totals.messages += 1
        state.extra.totals.bytes += byteCount + MessageBuffer.prefixByteCount
        let isNews = state.elements.isEmpty || state.extra.isHeldBack
        if let reader = state.push(message, cost: message.heldByteCount) {
          return (reader, state.extra.observer, state.held < limit)
        }
        guard isNews, let observer = state.extra.observer else { return (nil, nil, state.held < limit) }
        state.extra.isHeldBack = !flush && state.held < limit
        return (nil, state.extra.isHeldBack ? nil : observer, state.held < limit)
      }
    guard let reader else {
      observer?.pipeBecameReadable(self)
      return hasRoom
    }
    reader.resume(returning: message)
    observer?.pipe(self, released: byteCount)
    return hasRoom
  }

  private func refuse(_ status: GRPCStatus) {
    queue.state.withLock { if $0.end == nil { $0.extra.refusal = status } }
    finish(status)
  }

  /// Adds a message and waits until the pipe has room again.
  @usableFromInline nonisolated(nonsending) package func write(_ message: MessageBuffer, flush: Bool = true)
    async throws
  {
    if !push(message, flush: flush) { try await waitUntilWritable() }
  }

  /// Waits until the pipe has room, for a writer that pushes. Throws if the pipe has ended.
  @usableFromInline nonisolated(nonsending) package func waitUntilWritable() async throws {
    try await queue.waitToWrite(below: limit)
    let (isFinished, end) = queue.state.withLock { ($0.extra.isFinished, $0.end) }
    if isFinished { throw GRPCStatus.writeAfterEnd }
    if case .failed(let status) = end { throw status }
  }

  /// Ends the messages. With a status, the reader gets it as an error after the messages pushed before.
  @usableFromInline package func finish(_ failure: GRPCStatus? = nil) { end(failure, discarding: false) }

  /// Ends the pipe for both sides now: its messages are dropped, and waiting readers and writers get the status.
  @usableFromInline package func abort(_ status: GRPCStatus) { end(status, discarding: true) }

  private func end(_ failure: GRPCStatus?, discarding: Bool) {
    let (hasEnded, observer) = queue.state.withLock { state in
      let hasEnded = state.finish(failure, discarding: discarding)
      if hasEnded, failure == nil { state.extra.isFinished = true }
      return (hasEnded, state.extra.observer)
    }
    guard hasEnded else { return }
    queue.wake()
    observer?.pipeBecameReadable(self)
  }

  // MARK: Reading

  /// Takes the next message without waiting.
  @usableFromInline package func pop() -> Popped {
    let (popped, writers, observer): (Messages.Popped?, [Messages.Writer], (any Observer)?) =
      queue.state.withLock { state in
        guard let popped = state.pop(cost: { $0.heldByteCount }) else { return (nil, [], nil) }
        if state.elements.isEmpty { state.extra.isHeldBack = false }
        return (popped, state.held < limit ? state.takeWriters() : [], state.extra.observer)
      }
    for writer in writers { writer.resume() }
    switch popped {
    case nil: return .empty
    case .success(nil): return .end
    case .failure(let status): return .failed(status)
    case .success(let message?):
      observer?.pipe(self, released: message.byteCount)
      return .message(message)
    }
  }

  /// Waits for the next message on the caller's executor; `nil` at the end.
  @usableFromInline nonisolated(nonsending) package func next() async throws -> MessageBuffer? {
    while true {
      switch pop() {
      case .message(let message): return message
      case .end: return nil
      case .failed(let status): throw status
      case .empty: if let message = try await queue.waitToRead() { return message }
      }
    }
  }

  /// Whether a message or the end can be popped.
  @usableFromInline package var isReadable: Bool { queue.state.withLock { $0.isReadable } }
}

extension GRPCStatus {
  package static func messageTooLarge(_ byteCount: Int, limit: Int) -> GRPCStatus {
    GRPCStatus(
      code: .resourceExhausted,
      message: "a message of \(byteCount) bytes is larger than the limit of \(limit)",
      origin: .peer
    )
  }

  @usableFromInline
  static let writeAfterEnd = GRPCStatus(
    code: .failedPrecondition,
    message: "a message was written after the end of its stream"
  )
}
