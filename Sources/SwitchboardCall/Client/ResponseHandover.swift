import Synchronization

/// Not within the class: there it would be generic too, and looked up at run time.
@usableFromInline
enum HandoverPhase: Sendable {
  case empty, waiting, settled, over
}

/// Brings the one response of a call and the task that waits for it together, whichever comes first. The response counts
/// only once the call has ended well.
@usableFromInline
final class ResponseHandover<Message: Sendable>: Ref<Result<Message, GRPCStatus>?>, @unchecked Sendable {
  // Sendable holds because the transport's loop alone touches the value until it is settled, and whoever takes it
  // alone thereafter; and because the continuation is written and read under the lock alone.
  @usableFromInline let phase = Locked(HandoverPhase.empty)
  @exclusivity(unchecked) @usableFromInline var waiting: UnsafeContinuation<Message, any Error>?
  /// Gets the result in place of the one task.
  @usableFromInline let shared: OneShot<Message>?

  @inlinable
  init(_ shared: OneShot<Message>? = nil) {
    self.shared = shared
    super.init(nil)
  }

  // MARK: On the loop

  /// Keeps a response. A call has one: another fails it.
  @inlinable
  func take(_ decode: () throws -> Message) {
    guard value == nil else {
      value = .failure(.tooManyMessages)
      return
    }
    do {
      value = .success(try decode())
    } catch {
      value = .failure(.marshalling(error, "decoded"))
    }
  }

  /// Takes the end of the call. A response that is missing or cannot be decoded fails a call that succeeded.
  @inlinable
  func end(_ status: GRPCStatus, _ trailers: HPACKHeaders, _ record: CallRecord?) {
    if !status.isOk {
      value = .failure(status)
    } else if value == nil {
      value = .failure(.missingResponse)
    }
    if let record {
      if case .failure(let failure) = value {
        record.close(failure, trailers)
      } else {
        record.close(status, trailers)
      }
    }
    settle()
  }

  /// Takes a part that has passed the chain.
  @inlinable
  func take(_ part: GRPCClientResponsePart<Message>, _ record: CallRecord?) {
    switch part {
    case .metadata(let headers):
      record?.receive(headers: headers)
    case .message(let message):
      take { message }
      // Those behind a chain hear of the response as it comes, and before the chain is told of the end.
      if let shared, let result = value { shared.settle(result) }
    case .end(let status, let trailers):
      end(status, trailers, record)
    }
  }

  /// Hands the result over. To be called once.
  @inlinable
  func settle() {
    if let shared {
      if let result = value { shared.settle(result) }
      return
    }
    let reader: UnsafeContinuation<Message, any Error>? = phase.withLock { phase in
      guard phase == .waiting else {
        phase = .settled
        return nil
      }
      phase = .over
      return waiting
    }
    if let reader { resume(reader) }
  }

  // MARK: For the task that waits

  /// Waits for the result of a call. Cancelling the waiting task cancels the call.
  @inlinable
  nonisolated(nonsending) func value(of call: any ByteCall) async throws -> Message {
    try await withTaskCancellationHandler {
      call.look { phase.withLock { $0 == .settled } }
      return try await withUnsafeThrowingContinuation { wait($0) }
    } onCancel: {
      call.cancel(.cancelledByCaller)
    }
  }

  @inlinable
  func wait(_ continuation: UnsafeContinuation<Message, any Error>) {
    let isThere = phase.withLock { phase in
      guard phase == .settled else {
        waiting = continuation
        phase = .waiting
        return false
      }
      phase = .over
      return true
    }
    if isThere { resume(continuation) }
  }

  @inlinable
  func resume(_ continuation: UnsafeContinuation<Message, any Error>) {
    let result = value
    value = nil
    switch result {
    case nil: break
    case .success(let message): continuation.resume(returning: message)
    case .failure(let status): continuation.resume(throwing: status)
    }
  }
}

extension GRPCStatus {
  @usableFromInline
  static let missingResponse = GRPCStatus(
    code: .internalError,
    message: "the call succeeded without a response",
    origin: .peer
  )

  @usableFromInline
  static let cancelledByCaller = GRPCStatus(code: .cancelled, message: "the caller cancelled the call")
}
