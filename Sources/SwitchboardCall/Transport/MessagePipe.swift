import Synchronization

/// A bounded queue of messages between a transport and the code that makes or serves a call.
///
/// One side pushes, the other pops, each from any thread. It counts what messages take in memory, which is their bytes and
/// about a hundred more for each: a writer waits while `limit` or more lie unread, so a slow reader stops a fast writer,
/// through the network and back.
@usableFromInline package final class MessagePipe: Sendable {
  /// What the transport at one end learns. Called with no lock held, on the thread of whoever caused it.
  @usableFromInline package protocol Observer: AnyObject, Sendable {
    /// There is something to pop, or the end, where there was nothing before.
    func pipeBecameReadable(_ pipe: MessagePipe)
    /// A message of this size was popped.
    func pipe(_ pipe: MessagePipe, released byteCount: Int)
  }

  /// What `pop` found.
  @usableFromInline package enum Popped: Sendable {
    /// The next message, which is the caller's now.
    case message(MessageBuffer)
    /// Nothing yet.
    case empty
    /// Nothing, and nothing will follow.
    case end
    /// Nothing will follow, because of this.
    case failed(GRPCStatus)
  }

  /// What a pipe knows beside its messages.
  struct Extra {
    /// Why the pipe was ended, where that was for a message above its limit.
    var refusal: GRPCStatus?
    var totals = MessageTotals()
    /// The observer has not heard of what lies here: it was pushed without a flush.
    var isHeldBack = false
    /// The writer has said that nothing follows, however the call ends after that.
    var isFinished = false
    var observer: (any Observer)?
  }

  typealias Messages = BoundedQueue<MessageBuffer, Extra>

  let queue = Messages(Extra())
  private let limit: Int
  private let messageLimit = Atomic(Int.max)

  /// A pipe whose writer waits while messages that take `limit` bytes or more in memory are unread.
  @usableFromInline package init(limit: Int) {
    self.limit = limit
  }

  // MARK: The transport's view

  /// The observer is kept until `detach`, which its owner calls when the call has ended.
  @usableFromInline package func attach(_ observer: any Observer) {
    let isReadable = queue.state.withLock { state in
      state.extra.observer = observer
      return state.isReadable
    }
    if isReadable { observer.pipeBecameReadable(self) }
  }

  /// Lets go of the observer.
  @usableFromInline package func detach() {
    queue.state.withLock { $0.extra.observer = nil }
  }

  /// Has a message of more bytes than these end the pipe; for a transport to say before the first.
  @usableFromInline package func limitMessages(to byteCount: Int) {
    messageLimit.store(byteCount, ordering: .relaxed)
  }

  /// What has been pushed so far, with the framing that it travels in.
  @usableFromInline package var totals: MessageTotals { queue.state.withLock { $0.extra.totals } }

  /// Why the pipe was ended, where that was for a message above its limit.
  package var refusal: GRPCStatus? { queue.state.withLock { $0.extra.refusal } }

  /// Whether a writer would not have to wait.
  @usableFromInline package var hasRoom: Bool { queue.state.withLock { $0.held < limit } }

  /// Whether the reader has caught up so far that it is worth to bring it more of what waits outside of the pipe.
  package var hasMuchRoom: Bool { queue.state.withLock { $0.held <= limit / 2 } }

  /// Whether one of the sides has ended it.
  @usableFromInline package var hasEnded: Bool { queue.state.withLock { $0.end != nil } }

  // MARK: Writing

  /// Adds a message, unless the pipe has ended. `false` when it has, or is full now: the writer should wait, which fails
  /// where the pipe has ended.
  ///
  /// One that is not flushed may lie until another is, until the pipe is full, or until it ends.
  @discardableResult
  @usableFromInline package func push(_ message: MessageBuffer, flush: Bool = true) -> Bool {
    let byteCount = message.byteCount
    let messageLimit = messageLimit.load(ordering: .relaxed)
    guard byteCount <= messageLimit else {
      refuse(.messageTooLarge(byteCount, limit: messageLimit))
      return false
    }
    // A reader that waits gets it; otherwise, the observer is told where that is news.
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

  /// Waits until the pipe has room, for a writer that pushes. Throws once the pipe has ended.
  @usableFromInline nonisolated(nonsending) package func waitUntilWritable() async throws {
    try await queue.waitToWrite(below: limit)
    let (isFinished, end) = queue.state.withLock { ($0.extra.isFinished, $0.end) }
    if isFinished { throw GRPCStatus.writeAfterEnd }
    if case .failed(let status) = end { throw status }
  }

  /// Nothing follows. With a status, the reader gets it as an error once it has read what was pushed.
  @usableFromInline package func finish(_ failure: GRPCStatus? = nil) { end(failure, discarding: false) }

  /// Ends the pipe for both sides now: messages in it are dropped, a waiting reader or writer gets the
  /// status.
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

  /// Takes the next message, without waiting for one.
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

  /// The next message, or `nil` at the end. Waits on the caller's own executor.
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

  /// Whether there is something to pop, or the end.
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
