public import SwitchboardCall

/// Intercepts a client's calls as a whole: override `intercept`, and call `next` to send the call on.
///
/// Such interceptors share the chain, and its order, with interceptors of parts. `next` may be called any number of
/// times, but only after the previous one has returned or thrown; the interceptors after this one then see the call's
/// parts again. If the call fails, `next` throws its `GRPCStatus`; rethrowing it keeps the trailers. When the caller
/// cancels or the deadline passes, the task that runs `intercept` is cancelled, and `next` throws.
///
/// `intercept` runs on the call's event loop until it awaits something that leaves it.
///
/// ```swift
/// final class Repeating<Request: Sendable, Response: Sendable>: ClientCallInterceptor<Request, Response> {
///   override func intercept(
///     _ request: UnaryRequest<Request>, context: Context, next: Next
///   ) async throws -> UnaryResponse<Response> {
///     do { return try await next(request) } catch { return try await next(request) }
///   }
/// }
/// ```
open class ClientCallInterceptor<Request: Sendable, Response: Sendable>:
  ClientInterceptor<Request, Response>, WholeCallInterceptor
{
  /// The interceptor's view of the call.
  public typealias Context = ClientInterceptorContext<Request, Response>
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

  public final override func send(
    _ part: GRPCClientRequestPart<Request>,
    promise: EventLoopPromise<Void>?,
    context: Context
  ) {
    switch part {
    case .metadata(let headers):
      guard begin(context) else {
        promise?.fail(GRPCStatus.sharedInterceptor)
        return context.receive(.end(.sharedInterceptor, HPACKHeaders()))
      }
      state.call?.take(request: .metadata(headers), promise)
    case .message(let message, _):
      state.call?.take(request: .message(message), promise)
    case .end:
      state.call?.take(request: .end, promise)
    }
  }

  public final override func receive(_ part: GRPCClientResponsePart<Response>, context: Context) {
    state.call?.take(response: part, nil)
  }

  public final override func errorCaught(_ error: any Error, context: Context) {
    guard let call = state.call, call.attempt?.hasEnded == false else {
      if state.call?.isLeftBehind(isEnd: true) == true { return }
      return context.errorCaught(error)
    }
    call.take(response: .end(GRPCStatus(describing: error), HPACKHeaders()), nil)
  }

  public final override func cancel(promise: EventLoopPromise<Void>?, context: Context) {
    state.call?.cancel(.cancelledByCaller)
    context.cancel(promise: promise)
  }

  public final override func receiveNextMessages(_ count: Int, context: Context) { state.credit.add(count) }

  public final override var requestExecutor: InterceptorExecutor? { nil }

  public final override var responseExecutor: InterceptorExecutor? { nil }

  /// Returns `false` if the interceptor has served another call.
  private func begin(_ context: Context) -> Bool {
    let (chain, index, type) = (context.sideWorkChain, context.index, context.type)
    guard state.attach(to: chain, at: index, gate: type.streamsRequests ? { $0.requests } : nil)
    else { return false }
    let demand: @Sendable (Int) -> Void = { context.receiveNextMessages($0) }
    let ports = WholeCallPorts<Request, Response>(
      eventLoop: context.eventLoop,
      type: type,
      context: { context.taskContext },
      status: { GRPCStatus(describing: $0) },
      sendRequest: { part, promise in context.send(part.forClient, promise: promise) },
      sendResponse: { part, _ in context.receive(part) },
      requestRoom: { if type.streamsRequests { try await chain.room(at: index + 1) } },
      responseRoom: { [credit = state.credit] in if type.streamsResponses { try await credit.take() } },
      demandRequests: nil,
      demandResponses: type.streamsResponses ? demand : nil,
      abandon: { context.cancel(promise: nil) }
    )
    state.begin(makeCall(ports, context))
    return true
  }
}

extension GRPCServerRequestPart {
  /// The same part as clients name it.
  var forClient: GRPCClientRequestPart<Request> {
    switch self {
    case .metadata(let headers): .metadata(headers)
    case .message(let message): .message(message, MessageMetadata())
    case .end: .end
    }
  }
}
