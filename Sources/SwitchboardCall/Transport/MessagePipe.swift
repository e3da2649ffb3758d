/// A bounded queue of messages between a transport and the code that makes or serves a call.
///
/// One side pushes, the other pops, each from any thread. It counts what messages take in memory, which is their bytes and
/// about a hundred more for each: a writer waits while `limit` or more lie unread, so a slow reader stops a fast writer,
/// through the network and back.
public final class MessagePipe: Sendable {
  /// What the transport at one end learns. Called with no lock held, on the thread of whoever caused it.
  public protocol Observer: AnyObject, Sendable {
    /// There is something to pop, or the end, where there was nothing before.
    func pipeBecameReadable(_ pipe: MessagePipe)
    /// A message of this size was popped.
    func pipe(_ pipe: MessagePipe, released byteCount: Int)
  }

  /// What `pop` found.
  public enum Popped: Sendable {
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
  struct Role: QueueRole {
    static func cost(of message: MessageBuffer) -> Int { message.heldByteCount }

    /// The largest message that is taken.
    var messageLimit = Int.max
    /// Why the pipe was ended, where that was for a larger one.
    var refusal: GRPCStatus?
    var totals = MessageTotals()
    /// The observer has not heard of what lies here: it was pushed without a flush.
    var isHeldBack = false
    /// The writer has said that nothing follows, however the call ends after that.
    var isFinished = false
    var observer: (any Observer)?
  }

  private enum Pushed {
    case kept(toTell: (any Observer)?)
    case handed(to: BoundedQueue<Role>.Reader, (any Observer)?)
    case refused((any Observer)?)
  }

  let queue = BoundedQueue(Role())
  private let limit: Int

  /// A pipe whose writer waits while messages that take `limit` bytes or more in memory are unread.
  public init(limit: Int) {
    self.limit = limit
  }

  // MARK: The transport's view

  /// The observer is kept until `detach`, which its owner calls when the call has ended.
  public func attach(_ observer: any Observer) {
    let isReadable = queue.state.withLock { state in
      state.role.observer = observer
      return state.isReadable
    }
    if isReadable { observer.pipeBecameReadable(self) }
  }

  /// Lets go of the observer.
  public func detach() {
    queue.state.withLock { $0.role.observer = nil }
  }

  /// Has a message of more bytes than these end the pipe; for a transport to say before the first.
  public func limitMessages(to byteCount: Int) {
    queue.state.withLock { $0.role.messageLimit = byteCount }
  }

  /// What has been pushed so far, with the framing that it travels in.
  public var totals: MessageTotals { queue.state.withLock { $0.role.totals } }

  /// Why the pipe was ended, where that was for a message above its limit.
  package var refusal: GRPCStatus? { queue.state.withLock { $0.role.refusal } }

  /// Whether a writer would not have to wait.
  public var hasRoom: Bool { queue.state.withLock { $0.held < limit } }

  /// Whether the reader has caught up so far that it is worth to bring it more of what waits outside of the pipe.
  package var hasMuchRoom: Bool { queue.state.withLock { $0.held <= limit / 2 } }

  /// Whether one of the sides has ended it.
  public var hasEnded: Bool { queue.state.withLock { $0.end != nil } }

  // MARK: Writing

  /// Adds a message. `false` when the pipe is now full, and the writer should wait; the message is in it
  /// all the same, unless the pipe has ended.
  ///
  /// One that is not flushed may lie until another is, until the pipe is full, or until it ends.
  @discardableResult
  public func push(_ message: MessageBuffer, flush: Bool = true) -> Bool {
    let (pushed, hasRoom) = queue.state.withLock { state in
      let pushed = push(message, flush: flush, to: &state)
      return (pushed, state.held < limit)
    }
    switch pushed {
    case .kept(let observer):
      observer?.pipeBecameReadable(self)
    case .handed(let reader, let observer):
      reader.resume(returning: message)
      observer?.pipe(self, released: message.byteCount)
    case .refused(let observer):
      queue.wake()
      observer?.pipeBecameReadable(self)
    }
    return hasRoom
  }

  private func push(
    _ message: MessageBuffer,
    flush: Bool,
    to state: inout BoundedQueue<Role>.State
  ) -> Pushed {
    guard state.end == nil else { return .kept(toTell: nil) }
    guard message.byteCount <= state.role.messageLimit else {
      state.role.refusal = .messageTooLarge(message.byteCount, limit: state.role.messageLimit)
      state.finish(state.role.refusal)
      return .refused(state.role.observer)
    }
    state.role.totals.messages += 1
    state.role.totals.bytes += message.byteCount + MessageBuffer.prefixByteCount
    let isNews = state.elements.isEmpty || state.role.isHeldBack
    if let reader = state.push(message) { return .handed(to: reader, state.role.observer) }
    guard isNews, let observer = state.role.observer else { return .kept(toTell: nil) }
    state.role.isHeldBack = !flush && state.held < limit
    return .kept(toTell: state.role.isHeldBack ? nil : observer)
  }

  /// Adds a message and waits until the pipe has room again.
  nonisolated(nonsending) public func write(_ message: MessageBuffer, flush: Bool = true) async throws {
    try checkOpen()
    if !push(message, flush: flush) { try await waitForRoom() }
  }

  /// Waits until the pipe has room, for a writer that pushes. Throws once the pipe has ended.
  nonisolated(nonsending) public func waitUntilWritable() async throws {
    try checkOpen()
    if !hasRoom { try await waitForRoom() }
  }

  nonisolated(nonsending) private func waitForRoom() async throws {
    try await queue.waitToWrite(below: limit)
    try checkOpen()
  }

  private func checkOpen() throws(GRPCStatus) {
    let (isFinished, end) = queue.state.withLock { ($0.role.isFinished, $0.end) }
    if isFinished { throw .writeAfterEnd }
    if case .failed(let status) = end { throw status }
  }

  /// Nothing follows. With a status, the reader gets it as an error once it has read what was pushed.
  public func finish(_ failure: GRPCStatus? = nil) { end(failure, discarding: false) }

  /// Ends the pipe for both sides now: messages in it are dropped, a waiting reader or writer gets the
  /// status.
  public func abort(_ status: GRPCStatus) { end(status, discarding: true) }

  private func end(_ failure: GRPCStatus?, discarding: Bool) {
    let (hasEnded, observer) = queue.state.withLock { state in
      let hasEnded = state.finish(failure, discarding: discarding)
      if hasEnded, failure == nil { state.role.isFinished = true }
      return (hasEnded, state.role.observer)
    }
    guard hasEnded else { return }
    queue.wake()
    observer?.pipeBecameReadable(self)
  }

  // MARK: Reading

  /// Takes the next message, without waiting for one.
  public func pop() -> Popped {
    let (popped, writers, observer) = queue.state.withLock { state in
      let popped = state.pop()
      if state.elements.isEmpty { state.role.isHeldBack = false }
      return (popped, state.held < limit ? state.takeWriters() : [], state.role.observer)
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
  nonisolated(nonsending) public func next() async throws -> MessageBuffer? {
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
  public var isReadable: Bool { queue.state.withLock { $0.isReadable } }

  /// Whether everything pushed was popped and nothing will follow.
  public var isDrained: Bool { queue.state.withLock { $0.end != nil && $0.elements.isEmpty } }
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
