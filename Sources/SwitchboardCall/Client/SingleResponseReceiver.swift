import Synchronization

/// Waits for the one response of a call.
public final class SingleResponseReceiver<Responses: Marshaller>: ClosureReceiver, @unchecked Sendable {
  @usableFromInline let handover: ResponseHandover<Responses.Message>

  /// Decodes the response with this marshaller, on the transport's loop.
  @inlinable
  public init(_ marshaller: Responses) {
    let handover = ResponseHandover<Responses.Message>()
    self.handover = handover
    super.init { bytes in
      handover.take { try marshaller.decode(bytes) }
    } onClose: { status in
      handover.close(status)
    }
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

/// A receiver that is made of closures, so that what it does is compiled for the types of the call: the transport
/// would call methods of a generic class in their unspecialised form.
public class ClosureReceiver: ResponseReceiver, @unchecked Sendable {
  // Sendable holds because nothing changes, and the transport calls the closures on its loop alone.
  @usableFromInline let onMessage: (RawSpan) -> Void
  @usableFromInline let onClose: (GRPCStatus) -> Void

  @usableFromInline
  init(onMessage: @escaping (RawSpan) -> Void, onClose: @escaping (GRPCStatus) -> Void) {
    self.onMessage = onMessage
    self.onClose = onClose
  }

  /// `false`: metadata and trailers would go nowhere.
  public final var wantsMetadata: Bool { false }

  /// Never told: see `wantsMetadata`.
  public final func receive(headers: HPACKHeaders) {}

  public final func receive(message: RawSpan) { onMessage(message) }

  public final func close(_ status: GRPCStatus, trailers: HPACKHeaders) { onClose(status) }
}

/// Brings a result and the one who waits for it together, whichever comes first.
@usableFromInline
final class ResponseHandover<Message: Sendable>: @unchecked Sendable {
  // Sendable holds because the transport's loop alone touches `decoded`, and the continuation is handed over under a
  // lock.
  @usableFromInline
  enum State: Sendable {
    case empty
    case waiting(UnsafeContinuation<Message, any Error>)
    case settled(Result<Message, GRPCStatus>)
    case over
  }

  @usableFromInline let state = Locked(State.empty)
  @exclusivity(unchecked) @usableFromInline var decoded: Result<Message, GRPCStatus>?

  @inlinable
  init() {}

  /// Keeps the response until the call has ended well.
  @inlinable
  func take(_ decode: () throws -> Message) {
    do {
      decoded = .success(try decode())
    } catch {
      decoded = .failure(.marshalling(error, "decoded"))
    }
  }

  @inlinable
  func close(_ status: GRPCStatus) {
    guard status.isOk else { return settle(.failure(status)) }
    settle(decoded ?? .failure(.missingResponse))
    decoded = nil
  }

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
