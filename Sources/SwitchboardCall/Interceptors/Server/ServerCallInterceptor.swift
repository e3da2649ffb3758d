/// Sees a call on the server whole: override `intercept` for what is of interest, and call `next` to send the call on
/// to the handler.
///
/// It stands in the same chain as interceptors of parts, in the same order. `next` may be called not at all, once, or
/// again when it has returned or thrown: the handler then runs again. A handler that fails makes `next` throw its
/// `GRPCStatus`; thrown on, its trailers go with it. When the client cancels or the deadline passes, the task that
/// runs `intercept` is cancelled and what `next` waits for fails.
///
/// `intercept` runs on the call's event loop until it suspends on something that leaves it.
open class ServerCallInterceptor<Request: Sendable, Response: Sendable>:
  ServerInterceptor<Request, Response>, WholeCallInterceptor
{
  /// What knows the call and the way to the interceptor's neighbours.
  public typealias Context = ServerInterceptorContext<Request, Response>
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

  public final override func receive(_ part: GRPCServerRequestPart<Request>, context: Context) {
    if case .metadata = part { begin(context) }
    place.call?.take(request: part, nil)
  }

  public final override func send(
    _ part: GRPCServerResponsePart<Response>,
    promise: EventLoopPromise<Void>?,
    context: Context
  ) {
    let call = place.call
    guard let call, call.attempt?.hasEnded == false else {
      // What answers for the handler of a call that never got to it.
      if call?.isOver != false { return context.send(part, promise: promise) }
      if case .end(let status, _) = part { call?.close(status) }
      return context.send(part, promise: promise)
    }
    call.take(response: part.forClient, promise)
  }

  /// The handler hears of it as it would without this interceptor, and so does what `intercept` waits for.
  public final override func errorCaught(_ error: any Error, context: Context) {
    place.call?.cancel(GRPCStatus(describing: error))
    context.errorCaught(error)
  }

  public final override func receiveNextMessages(_ count: Int, context: Context) { place.credit.add(count) }

  public final override var requestExecutor: InterceptorExecutor? { nil }

  public final override var responseExecutor: InterceptorExecutor? { nil }

  private func begin(_ context: Context) {
    let (pipeline, index, type) = (context.pipeline, context.index, context.type)
    place.take(index, of: pipeline, gate: type.streamsResponses ? { $0.attempt?.responses.gate } : nil)
    let ask: @Sendable (Int) -> Void = { context.receiveNextMessages($0) }
    let ports = WholeCallPorts<Request, Response>(
      eventLoop: pipeline.eventLoop,
      type: type,
      sendRequest: { part, _ in context.receive(part) },
      sendResponse: { part, promise in context.send(part.forServer, promise: promise) },
      requestRoom: { [credit = place.credit] in if type.streamsRequests { try await credit.take() } },
      responseRoom: { if type.streamsResponses { try await pipeline.room(at: index - 1) } },
      askForRequests: type.streamsRequests ? ask : nil,
      askForResponses: nil,
      abandon: { context.errorCaught(GRPCStatus.cancelledByCaller) }
    )
    let call = makeCall(ports, context)
    pipeline.sideWork?.workBegins()
    call.onEnd = { pipeline.sideWorkIsDone() }
    place.begin(call)
  }
}

extension GRPCServerResponsePart {
  /// The same part on the client's side.
  var forClient: GRPCClientResponsePart<Response> {
    switch self {
    case .metadata(let headers): .metadata(headers)
    case .message(let message, _): .message(message)
    case .end(let status, let trailers): .end(status, trailers)
    }
  }
}

extension GRPCClientResponsePart {
  /// The same part on the server's side.
  var forServer: GRPCServerResponsePart<Response> {
    switch self {
    case .metadata(let headers): .metadata(headers)
    case .message(let message): .message(message, MessageMetadata())
    case .end(let status, let trailers): .end(status, trailers)
    }
  }
}
