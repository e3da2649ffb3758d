public import SwitchboardCall

/// Intercepts a server's calls as a whole: override `intercept`, and call `next` to send the call on to the handler.
///
/// Such interceptors share the chain, and its order, with interceptors of parts. `next` may be called any number of
/// times, but only after the previous one has returned or thrown; the handler then runs again. If the handler fails,
/// `next` throws its `GRPCStatus`; rethrowing it keeps the trailers. When the client cancels or the deadline passes,
/// the task that runs `intercept` is cancelled, and `next` throws.
///
/// `intercept` runs on the call's event loop until it awaits something that leaves it.
///
/// ```swift
/// final class Timing<Request: Sendable, Response: Sendable>: ServerCallInterceptor<Request, Response> {
///   override func intercept(
///     _ request: UnaryRequest<Request>, context: Context, next: Next
///   ) async throws -> UnaryResponse<Response> {
///     let start = ContinuousClock.now
///     defer { print(context.path, ContinuousClock.now - start) }
///     return try await next(request)
///   }
/// }
/// ```
open class ServerCallInterceptor<Request: Sendable, Response: Sendable>:
  ServerInterceptor<Request, Response>, WholeCallInterceptor
{
  /// The interceptor's view of the call.
  public typealias Context = ServerInterceptorContext<Request, Response>
  /// Sends a unary call on.
  public typealias Next = @Sendable (UnaryRequest<Request>) async throws -> UnaryResponse<Response>
  /// Sends a streaming call on; returns when the responses begin.
  public typealias StreamedNext =
    @Sendable (StreamedRequest<Request>) async throws -> StreamedResponse<Response>

  private let state = WholeCallState<Request, Response>()

  /// Creates an interceptor, which overrides `intercept` for each form of the calls that it is made for.
  public override init() { super.init() }

  /// Intercepts a call with one request and one response. A class that does not override this fails such calls.
  open func intercept(
    _ request: UnaryRequest<Request>,
    context: Context,
    next: Next
  ) async throws -> UnaryResponse<Response> {
    throw GRPCStatus.notIntercepted("unary calls", by: self)
  }

  /// Intercepts a call that streams requests, responses or both. A class that does not override this fails such calls.
  open func intercept(
    _ request: StreamedRequest<Request>,
    context: Context,
    next: StreamedNext
  ) async throws -> StreamedResponse<Response> {
    throw GRPCStatus.notIntercepted("calls that stream", by: self)
  }

  // MARK: Parts

  public final override func receive(_ part: GRPCServerRequestPart<Request>, context: Context) {
    if case .metadata = part, !begin(context) {
      return context.send(.end(.sharedInterceptor, HPACKHeaders()), promise: nil)
    }
    state.call?.take(request: part, nil)
  }

  public final override func send(
    _ part: GRPCServerResponsePart<Response>,
    promise: EventLoopPromise<Void>?,
    context: Context
  ) {
    let call = state.call
    guard let call, call.attempt?.hasEnded == false else {
      if call?.isLeftBehind(isEnd: part.kind == .end) == true {
        promise?.fail(GRPCStatus.callEnded)
        return
      }
      // The answer to a call that never reached its handler.
      if call?.isOver != false { return context.send(part, promise: promise) }
      if case .end(let status, _) = part { call?.close(status) }
      return context.send(part, promise: promise)
    }
    call.take(response: part.forClient, promise)
  }

  /// The handler is notified as it would be without this interceptor, and `next` throws.
  public final override func errorCaught(_ error: any Error, context: Context) {
    state.call?.cancel(context.stream.status(of: error))
    context.errorCaught(error)
  }

  public final override func receiveNextMessages(_ count: Int, context: Context) { state.credit.add(count) }

  public final override var requestExecutor: InterceptorExecutor? { nil }

  public final override var responseExecutor: InterceptorExecutor? { nil }

  /// Returns `false` if the interceptor has served another call.
  private func begin(_ context: Context) -> Bool {
    let (chain, index, type) = (context.sideWorkChain, context.index, context.type)
    guard state.attach(to: chain, at: index, gate: type.streamsResponses ? { $0.attempt?.responses } : nil)
    else { return false }
    let demand: @Sendable (Int) -> Void = { context.receiveNextMessages($0) }
    let ports = WholeCallPorts<Request, Response>(
      eventLoop: context.eventLoop,
      type: type,
      context: { context.taskContext },
      status: { context.stream.status(of: $0) },
      sendRequest: { part, _ in context.receive(part) },
      sendResponse: { part, promise in context.send(part.forServer, promise: promise) },
      requestRoom: { [credit = state.credit] in if type.streamsRequests { try await credit.take() } },
      responseRoom: { if type.streamsResponses { try await chain.room(at: index - 1) } },
      demandRequests: type.streamsRequests ? demand : nil,
      demandResponses: nil,
      abandon: { context.errorCaught(GRPCStatus.cancelledByCaller) }
    )
    let call = makeCall(ports, context)
    chain.sideWorkBegins()
    call.onEnd = { chain.sideWorkIsDone() }
    state.begin(call)
    return true
  }
}

extension GRPCServerResponsePart {
  /// The same part as clients name it.
  var forClient: GRPCClientResponsePart<Response> {
    switch self {
    case .metadata(let headers): .metadata(headers)
    case .message(let message, _): .message(message)
    case .end(let status, let trailers): .end(status, trailers)
    }
  }
}

extension GRPCClientResponsePart {
  /// The same part as servers name it.
  var forServer: GRPCServerResponsePart<Response> {
    switch self {
    case .metadata(let headers): .metadata(headers)
    case .message(let message): .message(message, MessageMetadata())
    case .end(let status, let trailers): .end(status, trailers)
    }
  }
}
