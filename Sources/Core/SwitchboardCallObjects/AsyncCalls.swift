import SwitchboardCall

/// A started call with one request and one response.
///
/// ```swift
/// let call = client.makeGetCall(request)
/// print(try await call.initialMetadata, try await call.response.text)
/// print(await call.status, try await call.trailingMetadata)
/// ```
public struct AsyncUnaryCall<Response: Sendable>: AsyncCall {
  let handle: CallHandle
  private let result: OneShot<Response>

  @usableFromInline
  init(_ handle: CallHandle, _ response: OneShot<Response>) {
    self.handle = handle
    result = response
  }

  /// The response. Throws the status if the call fails.
  public var response: Response {
    get async throws { try await result.valueOfCall() }
  }

  /// Whether the response was compressed. Always `false` behind interceptors.
  package var responseWasCompressed: Bool {
    get async throws {
      _ = try await result.valueOfCall()
      return handle.record.hadCompressedResponse
    }
  }

  /// Calls `callback` with the response, or with the status if the call fails: on the channel's event loop, before any
  /// later event of the call, or immediately if the result is known.
  public func whenResponse(_ callback: @escaping @Sendable (Result<Response, GRPCStatus>) -> Void) {
    result.whenSettled(callback)
  }

  public var initialMetadata: HPACKHeaders { get async throws { try await handle.record.metadata() } }
  public var trailingMetadata: HPACKHeaders { get async throws { try await handle.record.trailers() } }
  public var status: GRPCStatus { get async { await handle.record.status() } }
  public func cancel() { handle.cancel() }
}

/// A started call with a stream of requests and one response.
public struct AsyncClientStreamingCall<Request: Sendable, Response: Sendable>: AsyncCall {
  // First, so that it is released before the requests, and says that the whole object is.
  let handle: CallHandle
  /// Sends the requests.
  public let requestStream: RequestStreamWriter<Request>
  private let result: OneShot<Response>

  @usableFromInline
  init(_ handle: CallHandle, _ requests: RequestStreamWriter<Request>, _ response: OneShot<Response>) {
    self.handle = handle
    requestStream = requests
    result = response
  }

  /// The response. Throws the status if the call fails.
  public var response: Response {
    get async throws { try await result.valueOfCall() }
  }

  /// Whether the response was compressed. Always `false` behind interceptors.
  package var responseWasCompressed: Bool {
    get async throws {
      _ = try await result.valueOfCall()
      return handle.record.hadCompressedResponse
    }
  }

  /// Calls `callback` with the response, or with the status if the call fails: on the channel's event loop, before any
  /// later event of the call, or immediately if the result is known.
  public func whenResponse(_ callback: @escaping @Sendable (Result<Response, GRPCStatus>) -> Void) {
    result.whenSettled(callback)
  }

  public var initialMetadata: HPACKHeaders { get async throws { try await handle.record.metadata() } }
  public var trailingMetadata: HPACKHeaders { get async throws { try await handle.record.trailers() } }
  public var status: GRPCStatus { get async { await handle.record.status() } }
  public func cancel() { handle.cancel() }
}

/// A started call with one request and a stream of responses.
public struct AsyncServerStreamingCall<Response: Sendable>: AsyncCall {
  let handle: CallHandle
  /// The responses. Releasing the stream cancels the call.
  public let responseStream: ResponseStream<Response>

  @usableFromInline
  init(_ handle: CallHandle, _ responses: ResponseStream<Response>) {
    self.handle = handle
    responseStream = responses
  }

  public var initialMetadata: HPACKHeaders { get async throws { try await handle.record.metadata() } }
  public var trailingMetadata: HPACKHeaders { get async throws { try await handle.record.trailers() } }
  public var status: GRPCStatus { get async { await handle.record.status() } }
  public func cancel() { handle.cancel() }
}

/// A started call with streams in both directions.
///
/// ```swift
/// let call = client.makeUpdateCall()
/// try await call.requestStream.send(.with { $0.text = "one" })
/// call.requestStream.finish()
/// for try await reply in call.responseStream { print(reply.text) }
/// ```
public struct AsyncBidirectionalStreamingCall<Request: Sendable, Response: Sendable>: AsyncCall {
  // First, as above.
  let handle: CallHandle
  /// Sends the requests.
  public let requestStream: RequestStreamWriter<Request>
  /// The responses. Releasing the stream cancels the call.
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

  public var initialMetadata: HPACKHeaders { get async throws { try await handle.record.metadata() } }
  public var trailingMetadata: HPACKHeaders { get async throws { try await handle.record.trailers() } }
  public var status: GRPCStatus { get async { await handle.record.status() } }
  public func cancel() { handle.cancel() }
}

/// The common interface of the four kinds of call object. Releasing the last copy of a call object cancels its call.
public protocol AsyncCall: Sendable {
  /// The metadata before the first response. Throws the status if the call fails without metadata.
  var initialMetadata: HPACKHeaders { get async throws }
  /// The metadata that arrived with the status.
  var trailingMetadata: HPACKHeaders { get async throws }
  /// The status with which the call ended.
  var status: GRPCStatus { get async }
  /// Cancels the call, unless it has ended.
  func cancel()
}

/// Keeps a call alive: releasing the last reference cancels it.
@usableFromInline
final class CallHandle: Sendable {
  let call: any ByteCall
  let record: CallRecord
  /// `nil` if the call has all its requests from the beginning.
  private let requests: RequestsOwner?

  @usableFromInline
  init(_ call: any ByteCall, _ record: CallRecord, _ requests: RequestsOwner? = nil) {
    self.call = call
    self.record = record
    self.requests = requests
  }

  deinit {
    if let requests, !requests.isFinished { return requests.fail(.unfinishedCallReleased) }
    call.cancel(.callObjectReleased)
  }

  func cancel() { call.cancel(.cancelledByCaller) }
}
