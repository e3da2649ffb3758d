import Synchronization

/// A bounded queue of messages between a transport and the code that makes or serves a call.
///
/// One side pushes and the other pops, each from any thread. A writer waits while unread messages use `limit` bytes of
/// memory or more: their own bytes, and about a hundred for each message. A slow reader thus slows down a fast writer,
/// even across the network.
@usableFromInline package final class MessagePipe: Sendable {
  /// Notifies the transport at one end. Called without locks, on the thread that caused the event.
  @usableFromInline package protocol Observer: AnyObject, Sendable {
    /// A message or the end can be popped, for the first time since the pipe was empty.
    func pipeBecameReadable(_ pipe: MessagePipe)
    /// A message of this size was popped, which left this much room.
    func pipe(_ pipe: MessagePipe, wasRead byteCount: Int, leaving room: Room)
    /// Calls `work` on another thread when it is the turn of the call, unless the call is over, and then `finish`, once, on
    /// the loop.
    func doElsewhere(_ work: @escaping @Sendable () -> Void, then finish: @escaping @Sendable () -> Void)
  }

  /// Hears of code that uses a pipe after the handler that it belongs to has returned. Called without locks, on any thread.
  @usableFromInline package protocol LateUseReporter: AnyObject, Sendable {
    func pipeWasUsedLate(_ use: LateUse)
  }

  /// What was done too late.
  @usableFromInline package enum LateUse: Sendable {
    case read, written
  }

  /// How far the reader has caught up.
  @usableFromInline package enum Room: Sendable {
    /// A writer waits.
    case none
    /// A writer need not wait.
    case some
    /// The pipe has so much room that the transport should deliver more.
    case much
  }

  @usableFromInline package enum Popped: Sendable {
    case message(MessageBuffer)
    /// Nothing is available yet.
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
    /// Messages were pushed without a flush, and neither the observer nor a waiting reader was notified.
    var isHeldBack = false
    /// The writer has finished, regardless of how the call ends.
    var isFinished = false
    /// What sets the limit of a message.
    var limitOption = MessageLimit.Option.maxRequestSize
    var observer: (any Observer)?
    /// Who hears of which use, once the handler has returned.
    var late: (use: LateUse, reporter: any LateUseReporter)?
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

  /// The same for the pipe of a handler that has returned: `reporter`, if there is one, hears if it is still used so.
  package func detach(_ use: LateUse, _ reporter: (any LateUseReporter)?) {
    queue.state.withLock { state in
      state.extra.observer = nil
      state.extra.late = reporter.map { (use, $0) }
    }
  }

  /// Tells who wants to hear it that something was done too late.
  package func wasUsed(_ use: LateUse) {
    let reporter = queue.state.withLock { state in
      state.extra.late.flatMap { $0.use == use ? $0.reporter : nil }
    }
    reporter?.pipeWasUsedLate(use)
  }

  /// Makes a larger message end the pipe. Called by a transport before the first message.
  package func limitMessages(to limit: MessageLimit) {
    queue.state.withLock { $0.extra.limitOption = limit.option }
    messageLimit.store(limit.byteCount, ordering: .relaxed)
  }

  /// The messages pushed so far, including their framing.
  @usableFromInline package var totals: MessageTotals { queue.state.withLock { $0.extra.totals } }

  /// Why the pipe ended, if a message exceeded its limit.
  package var refusal: GRPCStatus? { queue.state.withLock { $0.extra.refusal } }

  /// Whether a writer need not wait.
  @usableFromInline package var hasRoom: Bool { queue.state.withLock { $0.held < limit } }

  /// How much memory unread messages take.
  package var heldByteCount: Int { queue.state.withLock(\.held) }

  /// Whether so little is unread that the transport should deliver more.
  package var hasMuchRoom: Bool { queue.state.withLock { roomLeft(in: $0) == .much } }

  private func roomLeft(in state: Messages.State) -> Room {
    if state.held <= limit / 2 { return .much }
    return state.held < limit ? .some : .none
  }

  @usableFromInline package var hasEnded: Bool { queue.state.withLock { $0.end != nil } }

  /// Whether the pipe has ended with a failure, as that of a call that is over has.
  package var hasFailed: Bool {
    if case .failed = queue.state.withLock({ $0.end }) { true } else { false }
  }

  // MARK: Writing

  /// Adds a message, unless the pipe has ended. Returns `false` if it has, or if it is now full: the writer should then
  /// wait with `waitUntilWritable`, which throws if the pipe has ended.
  ///
  /// A message without `flush` may stay in the pipe until another is flushed, or until the pipe is full or ends.
  @discardableResult
  @usableFromInline package func push(_ message: MessageBuffer, flush: Bool = true) -> Bool {
    let byteCount = message.byteCount
    let messageLimit = messageLimit.load(ordering: .relaxed)
    guard byteCount <= messageLimit else {
      refuse(byteCount, limit: messageLimit)
      return false
    }
    let cost = message.heldByteCount
    // A waiting reader gets the message. Otherwise the observer is notified, unless it already was.
    let (reader, isHanded, observer, room): (Messages.Reader?, Bool, (any Observer)?, Room) =
      queue.state.withLock { state in
        guard state.end == nil else { return (nil, false, nil, .none) }
        state.extra.totals.messages += 1
        state.extra.totals.bytes += byteCount + MessageBuffer.prefixByteCount
        let mayStay = !flush && state.held + cost < limit
        let isNews = state.elements.isEmpty || state.extra.isHeldBack
        if state.elements.isEmpty, !mayStay {
          if let reader = state.push(message, cost: cost) {
            return (reader, true, state.extra.observer, roomLeft(in: state))
          }
        } else {
          state.append(message, cost: cost)
        }
        let reader = mayStay ? nil : state.takeReader()
        guard isNews, let observer = state.extra.observer else {
          return (reader, false, nil, roomLeft(in: state))
        }
        state.extra.isHeldBack = mayStay
        return (reader, false, mayStay ? nil : observer, roomLeft(in: state))
      }
    reader?.resume(returning: isHanded ? message : nil)
    if isHanded {
      observer?.pipe(self, wasRead: byteCount, leaving: room)
    } else {
      observer?.pipeBecameReadable(self)
    }
    return room != .none
  }

  /// Makes messages that were pushed without a flush available to the reader.
  package func flush() {
    let (reader, observer): (Messages.Reader?, (any Observer)?) = queue.state.withLock { state in
      guard !state.elements.isEmpty else { return (nil, nil) }
      let observer = state.extra.isHeldBack ? state.extra.observer : nil
      state.extra.isHeldBack = false
      return (state.takeReader(), observer)
    }
    reader?.resume(returning: nil)
    observer?.pipeBecameReadable(self)
  }

  private func refuse(_ byteCount: Int, limit: Int) {
    let status = queue.state.withLock { state in
      let status = MessageLimit(limit, state.extra.limitOption).exceeded(by: byteCount)
      if state.end == nil { state.extra.refusal = status }
      return status
    }
    finish(status)
  }

  /// Adds a message and waits until the pipe has room again.
  @usableFromInline nonisolated(nonsending) package func write(_ message: MessageBuffer, flush: Bool = true)
    async throws
  {
    if !push(message, flush: flush) { try await waitUntilWritable() }
  }

  /// Waits until the pipe has room. Throws if the pipe has ended.
  @usableFromInline nonisolated(nonsending) package func waitUntilWritable() async throws {
    try await queue.waitToWrite(below: limit)
    let (isFinished, end) = queue.state.withLock { ($0.extra.isFinished, $0.end) }
    if end != nil { wasUsed(.written) }
    if isFinished { throw GRPCStatus.writeAfterEnd }
    if case .failed(let status) = end { throw status }
  }

  /// Ends the messages. The reader gets a failure as an error, after the messages pushed before.
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
    let (popped, writers, observer, room): (Messages.Popped?, [Messages.Writer], (any Observer)?, Room) =
      queue.state.withLock { state in
        guard let popped = state.pop(cost: { $0.heldByteCount }) else { return (nil, [], nil, .none) }
        if state.elements.isEmpty { state.extra.isHeldBack = false }
        let room = roomLeft(in: state)
        return (popped, room != .none ? state.takeWriters() : [], state.extra.observer, room)
      }
    for writer in writers { writer.resume() }
    switch popped {
    case nil: return .empty
    case .success(nil): return .end
    case .failure(let status): return .failed(status)
    case .success(let message?):
      observer?.pipe(self, wasRead: message.byteCount, leaving: room)
      return .message(message)
    }
  }

  /// Waits for the next message on the caller's executor; `nil` at the end. A chain of interceptors reads for as long as it
  /// can, so it is not `byHandler`.
  @usableFromInline nonisolated(nonsending) package func next(byHandler: Bool = true) async throws
    -> MessageBuffer?
  {
    while true {
      switch pop() {
      case .message(let message): return message
      case .end: return nil
      case .failed(let status):
        if byHandler { wasUsed(.read) }
        throw status
      case .empty: if let message = try await queue.waitToRead() { return message }
      }
    }
  }

  /// See `BoundedQueue`.
  @usableFromInline package func readEnd() throws { try queue.readEnd() }

  /// Whether an iterator has read the end.
  package var endWasRead: Bool { queue.state.withLock { $0.endWasRead } }

  /// Whether a message has been read.
  var wasRead: Bool { queue.state.withLock { $0.wasRead } }

  /// Whether a message or the end can be popped.
  @usableFromInline package var isReadable: Bool { queue.state.withLock { $0.isReadable } }

  /// The next message, if there is one. It stays in the pipe.
  package var first: MessageBuffer? { queue.state.withLock { $0.elements.first } }
}

extension GRPCStatus {
  @usableFromInline
  static let writeAfterEnd = GRPCStatus(
    code: .failedPrecondition,
    message: "a message was written after the end of its stream"
  )
}
