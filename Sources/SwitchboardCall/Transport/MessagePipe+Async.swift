extension MessagePipe {
  /// The next message, or `nil` at the end. Waits on the caller's own executor.
  @usableFromInline nonisolated(nonsending) package func next() async throws -> MessageBuffer? {
    switch pop() {
    case .message(let message): message
    case .end: nil
    case .failed(let status): throw status
    case .empty: try await waitForMessage()
    }
  }

  /// Adds a message and waits until the pipe has room again.
  @usableFromInline nonisolated(nonsending) package func write(_ message: MessageBuffer, flush: Bool = true)
    async throws
  {
    try checkOpen()
    if !push(message, flush: flush) { try await waitForRoom() }
  }

  /// Waits until the pipe has room, for a writer that pushes. Throws once the pipe has ended.
  @usableFromInline nonisolated(nonsending) package func waitUntilWritable() async throws {
    try checkOpen()
    if !hasRoom { try await waitForRoom() }
  }

  private func checkOpen() throws(GRPCStatus) {
    let (isFinished, end) = state.withLock { ($0.isFinished, $0.end) }
    if isFinished { throw .writeAfterEnd }
    if case .failed(let status) = end { throw status }
  }

  nonisolated(nonsending) private func waitForMessage() async throws -> MessageBuffer? {
    let ticket = state.withLock { $0.ticket() }
    return try await withTaskCancellationHandler {
      try await withUnsafeThrowingContinuation { self.register(reader: $0, ticket: ticket) }
    } onCancel: {
      cancel(ticket)
    }
  }

  nonisolated(nonsending) private func waitForRoom() async throws {
    let ticket = state.withLock { $0.ticket() }
    try await withTaskCancellationHandler {
      try await withUnsafeThrowingContinuation {
        self.register(writer: Writer(ticket: ticket, continuation: $0))
      }
    } onCancel: {
      cancel(ticket)
    }
  }

  /// A message may have come between the look and the wait, so it looks again under the lock.
  func register(reader: Reader, ticket: UInt64) {
    enum Outcome {
      case wait, cancelled
      case found(Popped, [Writer])
      case taken
    }
    let outcome: Outcome = state.withLock { state in
      if state.takeCancelled(ticket) { return .cancelled }
      if state.reader != nil { return .taken }
      if state.isReadable { return .found(state.pop(), state.takeWriters(below: limit)) }
      state.reader = (ticket, reader)
      return .wait
    }
    switch outcome {
    case .wait: break
    case .cancelled: reader.resume(throwing: CancellationError())
    case .taken: reader.resume(throwing: GRPCStatus.twoReaders)
    case .found(let popped, let writers):
      for writer in writers { writer.continuation.resume() }
      deliver(popped, to: reader)
    }
  }

  private func deliver(_ popped: Popped, to reader: Reader) {
    switch popped {
    case .message(let message): perform(.hand(message, reader))
    case .failed(let status): reader.resume(throwing: status)
    case .end, .empty: reader.resume(returning: nil)
    }
  }

  private func register(writer: Writer) {
    // `nil`: it waits.
    let outcome: Result<Void, any Error>? = state.withLock { state in
      if state.takeCancelled(writer.ticket) { return .failure(CancellationError()) }
      if case .failed(let status) = state.end { return .failure(status) }
      guard state.end == nil, state.heldByteCount >= limit else { return .success(()) }
      state.writers.append(writer)
      return nil
    }
    if let outcome { writer.continuation.resume(with: outcome) }
  }

  private func cancel(_ ticket: UInt64) {
    let resume: (Reader?, Writer?) = state.withLock { state in
      if let waiting = state.reader, waiting.ticket == ticket {
        state.reader = nil
        return (waiting.continuation, nil)
      }
      if let index = state.writers.firstIndex(where: { $0.ticket == ticket }) {
        return (nil, state.writers.remove(at: index))
      }
      state.cancelledTickets.append(ticket)
      return (nil, nil)
    }
    resume.0?.resume(throwing: CancellationError())
    resume.1?.continuation.resume(throwing: CancellationError())
  }
}

extension GRPCStatus {
  static let twoReaders = GRPCStatus(
    code: .failedPrecondition,
    message: "two tasks read one stream of messages at the same time"
  )
}
