/// Sees a call on the client whole: override `intercept` for what is of interest, and call `next` to send the call on.
///
/// It stands in the same chain as interceptors of parts, in the same order. `next` may be called not at all, once, or
/// again when it has returned or thrown: what stands behind this interceptor then sees the call's parts again. A call
/// that fails makes `next` throw its `GRPCStatus`; thrown on, its trailers go with it. When the caller cancels or the
/// deadline passes, the task that runs `intercept` is cancelled and what `next` waits for fails.
///
/// `intercept` runs on the call's event loop until it suspends on something that leaves it.
open class ClientCallInterceptor<Request: Sendable, Response: Sendable>: ClientInterceptor<Request, Response>
{
  /// What knows the call and the way to the interceptor's neighbours.
  public typealias Context = ClientInterceptorContext<Request, Response>
  /// Sends a unary call on.
  public typealias Next = @Sendable (UnaryRequest<Request>) async throws -> UnaryResponse<Response>
  /// Sends a call on that streams; returns with the first of its responses.
  public typealias StreamedNext =
    @Sendable (StreamedRequest<Request>) async throws -> StreamedResponse<Response>

  private var call: WholeCall<Request, Response>?
  private var credit = Credit()
  private var isInstalled = false

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
      install(context)
      call?.close(.callEnded)
      call = makeCall(context)
      call?.take(request: .metadata(headers), promise)
    case .message(let message, _):
      call?.take(request: .message(message), promise)
    case .end:
      call?.take(request: .end, promise)
    }
  }

  public final override func receive(_ part: GRPCClientResponsePart<Response>, context: Context) {
    call?.take(response: part, nil)
  }

  public final override func errorCaught(_ error: any Error, context: Context) {
    guard let call, call.attempt?.hasEnded == false else { return context.errorCaught(error) }
    call.take(response: .end(GRPCStatus(describing: error), HPACKHeaders()), nil)
  }

  public final override func cancel(promise: EventLoopPromise<Void>?, context: Context) {
    call?.cancel(.cancelledByCaller)
    context.cancel(promise: promise)
  }

  public final override func receiveNextMessages(_ count: Int, context: Context) { credit.add(count) }

  public final override var requestExecutor: InterceptorExecutor? { nil }

  public final override var responseExecutor: InterceptorExecutor? { nil }

  /// Tells the chain that requests wait here, and has it tell when it is gone.
  private func install(_ context: Context) {
    guard !isInstalled else { return }
    isInstalled = true
    let pipeline = context.pipeline
    let sideWork = pipeline.sideWork ?? SideWork()
    pipeline.sideWork = sideWork
    sideWork.whenClosed { [credit] in
      self.call?.close(.callEnded)
      self.call = nil
      credit.close()
    }
    guard context.type.streamsRequests else { return }
    sideWork.gates.append((context.index, { self.call?.requests }))
  }

  private func makeCall(_ context: Context) -> WholeCall<Request, Response> {
    let (pipeline, index, type) = (context.pipeline, context.index, context.type)
    let requestRoom: @Sendable () async throws -> Void = {
      guard type.streamsRequests else { return }
      let gate = try await pipeline.eventLoop.submit { try pipeline.nextGate(after: index) }
      try await gate.waitUntilWritable()
    }
    let ask: @Sendable (Int) -> Void = { context.receiveNextMessages($0) }
    let ports = WholeCallPorts<Request, Response>(
      eventLoop: pipeline.eventLoop,
      type: type,
      sendRequest: { part, promise in context.send(part.forClient, promise: promise) },
      sendResponse: { part, _ in context.receive(part) },
      requestRoom: requestRoom,
      responseRoom: { [credit] in if type.streamsResponses { try await credit.take() } },
      askForRequests: nil,
      askForResponses: type.streamsResponses ? ask : nil,
      abandon: { context.cancel(promise: nil) }
    )
    nonisolated(unsafe) let interceptor = self
    return WholeCall(
      ports,
      unary: { call in
        guard let request = call.request else { throw GRPCStatus.missingRequest }
        let next: Next = { request in try await call.next(unary: request) }
        return try await interceptor.intercept(request, context: context, next: next)
      },
      streamed: { call in
        let next: StreamedNext = { request in try await call.next(streamed: request) }
        return try await interceptor.intercept(call.streamedRequest, context: context, next: next)
      }
    )
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
