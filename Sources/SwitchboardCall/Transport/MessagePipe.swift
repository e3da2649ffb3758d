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

  let state: Locked<State>
  let limit: Int

  /// A pipe whose writer waits while messages that take `limit` bytes or more in memory are unread.
  @usableFromInline package init(limit: Int) {
    self.limit = limit
    state = Locked(State())
  }

  /// The observer is kept until `detach`, which its owner calls when the call has ended.
  @usableFromInline package func attach(_ observer: any Observer) {
    let isReadable = state.withLock { state in
      state.observer = observer
      return state.isReadable
    }
    if isReadable { observer.pipeBecameReadable(self) }
  }

  /// Lets go of the observer.
  @usableFromInline package func detach() {
    state.withLock { $0.observer = nil }
  }

  /// Has a message of more bytes than these end the pipe; for a transport to say before the first.
  @usableFromInline package func limitMessages(to byteCount: Int) {
    state.withLock { $0.messageLimit = byteCount }
  }

  /// Adds a message. `false` when the pipe is now full, and the writer should wait; the message is in it
  /// all the same, unless the pipe has ended.
  ///
  /// One that is not flushed may lie until another is, until the pipe is full, or until it ends.
  @discardableResult
  @usableFromInline package func push(_ message: MessageBuffer, flush: Bool = true) -> Bool {
    let (effect, hasRoom) = state.withLock { state in
      let effect = state.push(message, flush: flush, limit: limit)
      return (effect, state.heldByteCount < limit)
    }
    perform(effect)
    return hasRoom
  }

  /// Nothing follows. With a status, the reader gets it as an error once it has read what was pushed.
  @usableFromInline package func finish(_ failure: GRPCStatus? = nil) {
    perform(state.withLock { $0.finish(failure, discarding: false) })
  }

  /// Ends the pipe for both sides now: messages in it are dropped, a waiting reader or writer gets the
  /// status.
  @usableFromInline package func abort(_ status: GRPCStatus) {
    perform(state.withLock { $0.finish(status, discarding: true) })
  }

  /// Takes the next message, without waiting for one.
  @usableFromInline package func pop() -> Popped {
    let (popped, writers) = state.withLock { state in
      let popped = state.pop()
      return (popped, state.takeWriters(below: limit))
    }
    for writer in writers { writer.continuation.resume() }
    if case .message(let message) = popped { released(message.byteCount) }
    return popped
  }

  /// Whether there is something to pop, or the end.
  @usableFromInline package var isReadable: Bool { state.withLock { $0.isReadable } }

  /// What has been pushed so far, with the framing that it travels in.
  @usableFromInline package var totals: MessageTotals { state.withLock { $0.totals } }

  /// Whether everything pushed was popped and nothing will follow.
  @usableFromInline package var isDrained: Bool { state.withLock { $0.end != nil && $0.messages.isEmpty } }

  /// Why the pipe was ended, where that was for a message above its limit.
  package var refusal: GRPCStatus? { state.withLock { $0.refusal } }

  /// Whether a writer would not have to wait.
  @usableFromInline package var hasRoom: Bool { state.withLock { $0.heldByteCount < limit } }

  /// Whether the reader has caught up so far that it is worth to bring it more of what waits outside of the pipe.
  package var hasMuchRoom: Bool { state.withLock { $0.heldByteCount <= limit / 2 } }

  /// Whether one of the sides has ended it.
  @usableFromInline package var hasEnded: Bool { state.withLock { $0.end != nil } }

  private func released(_ byteCount: Int) {
    state.withLock { $0.observer }?.pipe(self, released: byteCount)
  }

  func perform(_ effect: State.Effect) {
    switch effect {
    case .none:
      break
    case .tellObserver(let observer):
      observer.pipeBecameReadable(self)
    case .hand(let message, let reader):
      reader.resume(returning: message)
      released(message.byteCount)
    case .end(let reader, let writers, let observer, let failure):
      reader?.resume(with: failure.map { .failure($0) } ?? .success(nil))
      for writer in writers {
        writer.continuation.resume(throwing: failure ?? .writeAfterEnd)
      }
      observer?.pipeBecameReadable(self)
    }
  }
}
