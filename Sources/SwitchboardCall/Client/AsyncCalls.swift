import Synchronization

/// A call with one request and one response, started, with all there is to know about it.
public struct AsyncUnaryCall<Response: Sendable>: AsyncCall {
  public let handle: CallHandle
  private let eventual: OneShot<Response>

  @usableFromInline
  init(_ handle: CallHandle, _ response: OneShot<Response>) {
    self.handle = handle
    eventual = response
  }

  /// The response, or the status that the call failed with.
  public var response: Response {
    get async throws { try await eventual.value() }
  }

  /// Whether the response came compressed. Not known, and `false`, behind interceptors.
  public var responseWasCompressed: Bool {
    get async throws {
      _ = try await eventual.value()
      return handle.record.responseWasCompressed.load(ordering: .relaxed)
    }
  }

  /// Calls back with the response, or the status that the call failed with: on the channel's event loop, before
  /// anything else happens to the call; at once, where it is known.
  public func whenResponse(_ callback: @escaping @Sendable (Result<Response, GRPCStatus>) -> Void) {
    eventual.whenSettled(callback)
  }
}

/// A call with a stream of requests and one response.
public struct AsyncClientStreamingCall<Request: Sendable, Response: Sendable>: AsyncCall {
  public let handle: CallHandle
  private let eventual: OneShot<Response>
  /// Where the requests go.
  public let requestStream: RequestStreamWriter<Request>

  @usableFromInline
  init(_ handle: CallHandle, _ requests: RequestStreamWriter<Request>, _ response: OneShot<Response>) {
    self.handle = handle
    requestStream = requests
    eventual = response
  }

  /// The response, or the status that the call failed with.
  public var response: Response {
    get async throws { try await eventual.value() }
  }

  /// Whether the response came compressed. Not known, and `false`, behind interceptors.
  public var responseWasCompressed: Bool {
    get async throws {
      _ = try await eventual.value()
      return handle.record.responseWasCompressed.load(ordering: .relaxed)
    }
  }

  /// Calls back with the response, or the status that the call failed with: on the channel's event loop, before
  /// anything else happens to the call; at once, where it is known.
  public func whenResponse(_ callback: @escaping @Sendable (Result<Response, GRPCStatus>) -> Void) {
    eventual.whenSettled(callback)
  }
}

/// A call with one request and a stream of responses.
public struct AsyncServerStreamingCall<Response: Sendable>: AsyncCall {
  public let handle: CallHandle
  /// The responses. Letting go of them cancels the call.
  public let responseStream: ResponseStream<Response>

  @usableFromInline
  init(_ handle: CallHandle, _ responses: ResponseStream<Response>) {
    self.handle = handle
    responseStream = responses
  }
}

/// A call with streams both ways.
public struct AsyncBidirectionalStreamingCall<Request: Sendable, Response: Sendable>: AsyncCall {
  public let handle: CallHandle
  /// Where the requests go.
  public let requestStream: RequestStreamWriter<Request>
  /// The responses. Letting go of them cancels the call.
  public let responseStream: ResponseStream<Response>

  @usableFromInline
  init(
    _ handle: CallHandle,
    _ requests: RequestStreamWriter<Request>,
    _ responses: ResponseStream<Response>
  ) {
    self.handle = handle
    requestStream = requests
    responseStream = responses
  }
}

/// What the four kinds of call object have in common. Letting go of the last copy of one cancels its call.
public protocol AsyncCall: Sendable {
  /// The call that this object stands for.
  var handle: CallHandle { get }
}

extension AsyncCall {
  /// The metadata that came before the first response. Throws the status of a call that failed without.
  public var initialMetadata: HPACKHeaders {
    get async throws { try await handle.record.metadata() }
  }

  /// The metadata that came with the status.
  public var trailingMetadata: HPACKHeaders {
    get async throws { try await handle.record.trailers() }
  }

  /// How the call ended.
  public var status: GRPCStatus {
    get async { await handle.record.status() }
  }

  /// Ends the call with `cancelled`, unless it has ended.
  public func cancel() { handle.cancel() }
}

/// Keeps a call going for as long as someone holds it.
public final class CallHandle: Sendable {
  let call: any ByteCall
  let record: CallRecord

  @usableFromInline
  init(_ call: any ByteCall, _ record: CallRecord) {
    self.call = call
    self.record = record
  }

  deinit { cancel() }

  func cancel() { call.cancel(.cancelledByCaller) }
}
