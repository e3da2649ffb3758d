extension MessagePipe {
  // Unsafe continuations: each is stored once, under the lock, and taken out by whoever resumes it.
  typealias Reader = UnsafeContinuation<MessageBuffer?, any Error>

  struct Writer: Sendable {
    let ticket: UInt64
    let continuation: UnsafeContinuation<Void, any Error>
  }

  /// ```
  ///            push                finish
  ///   open ───────────> open    ────────────> ended, with what is left to pop
  /// ```
  /// Its methods return what is to be done once the lock is open.
  struct State: Sendable {
    enum End: Sendable {
      case finished
      case failed(GRPCStatus)
    }

    enum Effect: Sendable {
      case none
      case tellObserver(any Observer)
      case hand(MessageBuffer, Reader)
      case end(Reader?, [Writer], (any Observer)?, GRPCStatus?)
    }

    var messages = Queue<MessageBuffer>()
    /// What the messages take in memory.
    var heldByteCount = 0
    /// The largest message that is taken.
    var messageLimit = Int.max
    /// Why the pipe was ended, where that was for a larger one.
    var refusal: GRPCStatus?
    var totals = MessageTotals()
    /// The observer has not heard of what lies here: it was pushed without a flush.
    var isHeldBack = false
    var end: End?
    /// The writer has said that nothing follows, however the call ends after that.
    var isFinished = false
    var observer: (any Observer)?
    var reader: (ticket: UInt64, continuation: Reader)?
    var writers: [Writer] = []
    var nextTicket: UInt64 = 0
    /// Tickets whose task was cancelled before it came to wait.
    var cancelledTickets: [UInt64] = []

    var isReadable: Bool { !messages.isEmpty || end != nil }

    mutating func push(_ message: MessageBuffer, flush: Bool, limit: Int) -> Effect {
      guard end == nil else { return .none }
      guard message.byteCount <= messageLimit else {
        refusal = .messageTooLarge(message.byteCount, limit: messageLimit)
        return finish(refusal, discarding: false)
      }
      totals.messages += 1
      totals.bytes += message.byteCount + MessageBuffer.prefixByteCount
      if let waiting = reader {
        reader = nil
        return .hand(message, waiting.continuation)
      }
      let wasEmpty = messages.isEmpty
      messages.append(message)
      heldByteCount += message.heldByteCount
      guard wasEmpty || isHeldBack, let observer else { return .none }
      isHeldBack = !flush && heldByteCount < limit
      return isHeldBack ? .none : .tellObserver(observer)
    }

    mutating func pop() -> Popped {
      if let message = messages.popFirst() {
        heldByteCount -= message.heldByteCount
        if messages.isEmpty { isHeldBack = false }
        return .message(message)
      }
      switch end {
      case nil: return .empty
      case .finished: return .end
      case .failed(let status): return .failed(status)
      }
    }

    mutating func finish(_ failure: GRPCStatus?, discarding: Bool) -> Effect {
      if discarding {
        messages.removeAll()
        heldByteCount = 0
      }
      guard end == nil || discarding else { return .none }
      end = failure.map { .failed($0) } ?? .finished
      if failure == nil { isFinished = true }
      let waiting = reader?.continuation
      reader = nil
      return .end(waiting, takeWriters(), observer, failure)
    }

    /// The writers that need not wait any longer.
    mutating func takeWriters(below limit: Int) -> [Writer] { heldByteCount < limit ? takeWriters() : [] }

    mutating func takeWriters() -> [Writer] {
      guard !writers.isEmpty else { return [] }
      defer { writers = [] }
      return writers
    }

    mutating func ticket() -> UInt64 {
      nextTicket += 1
      return nextTicket
    }

    mutating func takeCancelled(_ ticket: UInt64) -> Bool {
      guard let index = cancelledTickets.firstIndex(of: ticket) else { return false }
      cancelledTickets.remove(at: index)
      return true
    }
  }
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
