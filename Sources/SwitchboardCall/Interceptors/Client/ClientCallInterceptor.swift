/// Sees a call on the client whole: override `intercept` for what is of interest, and call `next` to send the call on.
///
/// It stands in the same chain as interceptors of parts, in the same order. `next` may be called not at all, once, or
/// again when it has returned or thrown: what stands behind this interceptor then sees the call's parts again. A call
/// that fails makes `next` throw its `GRPCStatus`; thrown on, its trailers go with it. When the caller cancels or the
/// deadline passes, the task that runs `intercept` is cancelled and what `next` waits for fails.
///
/// `intercept` runs on the call's event loop until it suspends on something that leaves it.
open class ClientCallInterceptor<Request: Sendable, Response: Sendable>:
  ClientInterceptor<Request, Response>, WholeCallInterceptor
{
  /// What knows the call and the way to the interceptor's neighbours.
  public typealias Context = ClientInterceptorContext<Request, Response>
  /// Sends a unary call on.
  public typealias Next = @Sendable (UnaryRequest<Request>) async throws -> UnaryResponse<Response>
  /// Sends a call on that streams; returns with the first of its responses.
  public typealias StreamedNext =
    @Sendable (StreamedRequest<Request>) async throws -> StreamedResponse<Response>

  private let place = WholeCallPlace<Request, Response>()

  /// For subclasses: an interceptor that sends every call on.
  public override init() { super.init() }

  /// A call with one request and one response.
  open func intercept(
    _ request: UnaryRequest<Request>,
    context: Context,
    next: Next
  ) async throws -> UnaryResponse<Response> {
    try await next(request)
  }

  /// A call that streams requests, responses, or both.
  open func intercept(
    _ request: StreamedRequest<Request>,
    context: Context,
    next: StreamedNext
  ) async throws -> StreamedResponse<Response> {
    try await next(request)
  }

  // MARK: Between parts and the whole

  public final override func send(
    _ part: GRPCClientRequestPart<Request>,
    promise: EventLoopPromise<Void>?,
    context: Context
  ) {
    switch part {
    case .metadata(let headers):
      begin(context)
      place.call?.take(request: .metadata(headers), promise)
    case .message(let message, _):
      place.call?.take(request: .message(message), promise)
    case .end:
      place.call?.take(request: .end, promise)
    }
  }

  public final override func receive(_ part: GRPCClientResponsePart<Response>, context: Context) {
    place.call?.take(response: part, nil)
  }

  public final override func errorCaught(_ error: any Error, context: Context) {
    guard let call = place.call, call.attempt?.hasEnded == false else { return context.errorCaught(error) }
    call.take(response: .end(GRPCStatus(describing: error), HPACKHeaders()), nil)
  }

  public final override func cancel(promise: EventLoopPromise<Void>?, context: Context) {
    place.call?.cancel(.cancelledByCaller)
    context.cancel(promise: promise)
  }

  public final override func receiveNextMessages(_ count: Int, context: Context) { place.credit.add(count) }

  public final override var requestExecutor: InterceptorExecutor? { nil }

  public final override var responseExecutor: InterceptorExecutor? { nil }

  private func begin(_ context: Context) {
    let (pipeline, index, type) = (context.pipeline, context.index, context.type)
    place.take(index, of: pipeline, gate: type.streamsRequests ? { $0.requests.gate } : nil)
    let ask: @Sendable (Int) -> Void = { context.receiveNextMessages($0) }
    let ports = WholeCallPorts<Request, Response>(
      eventLoop: pipeline.eventLoop,
      type: type,
      sendRequest: { part, promise in context.send(part.forClient, promise: promise) },
      sendResponse: { part, _ in context.receive(part) },
      requestRoom: { if type.streamsRequests { try await pipeline.room(at: index + 1) } },
      responseRoom: { [credit = place.credit] in if type.streamsResponses { try await credit.take() } },
      askForRequests: nil,
      askForResponses: type.streamsResponses ? ask : nil,
      abandon: { context.cancel(promise: nil) }
    )
    place.begin(makeCall(ports, context))
  }
}

extension GRPCServerRequestPart {
  /// The same part on the client's side.
  var forClient: GRPCClientRequestPart<Request> {
    switch self {
    case .metadata(let headers): .metadata(headers)
    case .message(let message): .message(message, MessageMetadata())
    case .end: .end
    }
  }
}
