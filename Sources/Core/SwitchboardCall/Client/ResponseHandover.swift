// unsafe: the loop alone touches what is not behind the lock

import Synchronization

/// Not nested in the class, where it would be generic and looked up at run time.
@usableFromInline
enum HandoverPhase: Sendable {
  case empty, waiting, settled, over
}

/// Hands the single response of a call to the task that waits for it. Either may arrive first. The response is used
/// only if the call succeeds.
@usableFromInline
package final class ResponseHandover<Message: Sendable>: Ref<Result<Message, GRPCStatus>?>,
  @unchecked Sendable
{
  // Sendable holds because only the transport's loop uses the value until it is settled, and only its reader
  // afterwards, and because the continuation is used only under the lock.
  @usableFromInline let phase = Locked(HandoverPhase.empty)
  @exclusivity(unchecked) @usableFromInline var waiting: UnsafeContinuation<Message, any Error>?
  /// Receives the result instead of a waiting task.
  @usableFromInline let shared: OneShot<Message>?

  @inlinable
  package init(_ shared: OneShot<Message>? = nil) {
    self.shared = shared
    super.init(nil)
  }

  // MARK: On the loop

  /// Stores the response. A second response fails the call.
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

  /// What decodes the response on another thread and then stores it here.
  @usableFromInline
  func decoder(_ decode: @escaping @Sendable (RawSpan) throws -> Message) -> ResponseDecoder {
    DecodedMessage.decoder(decode) { self.take($0) }
  }

  /// Ends the call. A missing or invalid response fails a call that succeeded.
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

  /// Receives a part that has passed the chain.
  @inlinable
  func take(_ part: GRPCClientResponsePart<Message>, _ record: CallRecord?) {
    switch part {
    case .metadata(let headers):
      record?.receive(headers: headers)
    case .message(let message):
      take { message }
      // With interceptors, a call object's response is delivered as it arrives, before the end.
      if let shared, let result = value { shared.settle(result) }
    case .end(let status, let trailers):
      if status.isOk, value == nil { value = .failure(.responseNotPassedOn) }
      end(status, trailers, record)
    }
  }

  /// Hands over the result. Must be called once.
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

  // MARK: For the waiting task

  /// Waits for the result of a call. Cancelling the task cancels the call.
  @inlinable
  nonisolated(nonsending) func value(of call: any ByteCall) async throws -> Message {
    try await withTaskCancellationHandler {
      call.poll { phase.withLock { $0 == .settled } }
      return try await withUnsafeThrowingContinuation { wait($0) }
    } onCancel: {
      call.cancel(.cancelledByCaller)
    }
  }

  @inlinable
  func wait(_ continuation: UnsafeContinuation<Message, any Error>) {
    let isReady = phase.withLock { phase in
      guard phase == .settled else {
        waiting = continuation
        phase = .waiting
        return false
      }
      phase = .over
      return true
    }
    if isReady { resume(continuation) }
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
  // The code that gRPC assigns to a wrong number of responses.
  @usableFromInline
  package static let missingResponse = GRPCStatus(
    code: .unimplemented,
    message: "the call succeeded without a response",
    origin: .peer
  )

  /// The same of a call with interceptors.
  @usableFromInline
  static let responseNotPassedOn = GRPCStatus(
    code: .unimplemented,
    message:
      "the call succeeded without a response: the server sent none, or an interceptor of the client did not pass it on",
    origin: .library
  )

  @usableFromInline
  static let handlerGaveNoResponse = GRPCStatus(
    code: .internalError,
    message: "the call succeeded without a response"
  )

  @usableFromInline
  package static let cancelledByCaller = GRPCStatus(
    code: .cancelled,
    message: "the caller cancelled the call"
  )

  @usableFromInline
  package static func wrongForm(_ method: MethodDescriptor) -> GRPCStatus {
    GRPCStatus(
      code: .failedPrecondition,
      message: "\(method.path) was called with the wrong form: the type of the method is \(method.type)"
    )
  }
}
