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

/// Not within the class: there it would be generic too, and looked up at run time.
@usableFromInline
enum HandoverPhase: Sendable {
  case empty, waiting, settled, over
}

/// Brings a result and the one who waits for it together, whichever comes first.
@usableFromInline
final class ResponseHandover<Message: Sendable>: Place<Result<Message, GRPCStatus>?>, @unchecked Sendable {
  // Sendable holds because the transport's loop alone touches the value until it is settled, and whoever takes it
  // alone thereafter; and because the continuation is written and read under the lock alone.
  @usableFromInline let phase = Locked(HandoverPhase.empty)
  @exclusivity(unchecked) @usableFromInline var waiting: UnsafeContinuation<Message, any Error>?

  @inlinable
  init() { super.init(nil) }

  /// Keeps the response until the call has ended well.
  @inlinable
  func take(_ decode: () throws -> Message) {
    do {
      value = .success(try decode())
    } catch {
      value = .failure(.marshalling(error, "decoded"))
    }
  }

  @inlinable
  func close(_ status: GRPCStatus) {
    if !status.isOk {
      value = .failure(status)
    } else if value == nil {
      value = .failure(.missingResponse)
    }
    settle()
  }

  /// Whether the result is there and nobody has taken it.
  @inlinable
  var isSettled: Bool { phase.withLock { $0 == .settled } }

  /// Hands the value over. To be called once.
  @inlinable
  func settle() {
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
}

extension GRPCStatus {
  @usableFromInline
  static let missingResponse = GRPCStatus(
    code: .internalError,
    message: "the call succeeded without a response",
    origin: .peer
  )
}
