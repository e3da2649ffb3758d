import Synchronization

/// Waits for the one response of a call.
public final class SingleResponseReceiver<Responses: Marshaller>: ResponseReceiver, @unchecked Sendable {
  // Sendable holds because the transport is the only one to touch `decoded`, on its loop, and the
  // continuation is handed over under a lock.
  @usableFromInline let marshaller: Responses
  @usableFromInline var decoded: Result<Responses.Message, GRPCStatus>?
  @usableFromInline let handover = ResponseHandover<Responses.Message>()

  public var wantsMetadata: Bool { false }

  /// Decodes the response with this marshaller, on the transport's loop.
  @inlinable
  public init(_ marshaller: Responses) {
    self.marshaller = marshaller
  }

  /// Never told: see `wantsMetadata`.
  public func receive(headers: HPACKHeaders) {}

  @inlinable
  public func receive(message: RawSpan) {
    do {
      decoded = .success(try GRPCStatus.decoding { try marshaller.decode(message) })
    } catch {
      decoded = .failure(error)
    }
  }

  @inlinable
  public func close(_ status: GRPCStatus, trailers: HPACKHeaders) {
    guard status.isOk else { return handover.settle(.failure(status)) }
    handover.settle(decoded ?? .failure(.missingResponse))
    decoded = nil
  }

  /// Starts the call and waits. Cancelling the waiting task cancels the call.
  @inlinable
  nonisolated(nonsending) public func response(of call: any ByteCall) async throws -> Responses.Message {
    try await withTaskCancellationHandler {
      call.start()
      call.look { handover.isSettled }
      return try await withUnsafeThrowingContinuation { handover.wait($0) }
    } onCancel: {
      call.cancel(.cancelledByCaller)
    }
  }

  /// Waits for a call that was started before.
  @inlinable
  nonisolated(nonsending) public func responseOfStarted(_ call: any ByteCall) async throws
    -> Responses.Message
  {
    try await handover.value(of: call)
  }
}

/// Brings a result and the one who waits for it together, whichever comes first.
@usableFromInline
final class ResponseHandover<Message: Sendable>: Sendable {
  @usableFromInline
  enum State: Sendable {
    case empty
    case waiting(UnsafeContinuation<Message, any Error>)
    case settled(Result<Message, GRPCStatus>)
    case over
  }

  @usableFromInline let state = Locked(State.empty)

  @inlinable
  init() {}

  /// Whether the result is there and nobody has taken it.
  @inlinable
  var isSettled: Bool {
    state.withLock { if case .settled = $0 { true } else { false } }
  }

  @inlinable
  func settle(_ result: Result<Message, GRPCStatus>) {
    let waiting: UnsafeContinuation<Message, any Error>? = state.withLock { state in
      switch state {
      case .empty:
        state = .settled(result)
        return nil
      case .waiting(let continuation):
        state = .over
        return continuation
      case .settled, .over:
        return nil
      }
    }
    waiting?.resume(with: result.mapError { $0 })
  }

  /// Waits for the result of a call. Cancelling the waiting task cancels the call.
  @inlinable
  nonisolated(nonsending) func value(of call: any ByteCall) async throws -> Message {
    try await withTaskCancellationHandler {
      try await withUnsafeThrowingContinuation { wait($0) }
    } onCancel: {
      call.cancel(.cancelledByCaller)
    }
  }

  @inlinable
  func wait(_ continuation: UnsafeContinuation<Message, any Error>) {
    let result: Result<Message, GRPCStatus>? = state.withLock { state in
      guard case .settled(let result) = state else {
        state = .waiting(continuation)
        return nil
      }
      state = .over
      return result
    }
    if let result { continuation.resume(with: result.mapError { $0 }) }
  }
}

extension GRPCStatus {
  @usableFromInline
  static let missingResponse = GRPCStatus(
    code: .internalError,
    message: "the call succeeded without a response",
    origin: .peer
  )
}
