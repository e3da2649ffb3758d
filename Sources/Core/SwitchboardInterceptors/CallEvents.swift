import SwitchboardCall

/// An event of a call in its chain of interceptors, on either side.
enum CallEvent {
  case started(HPACKHeaders)
  case request
  case response
  case ended(GRPCStatus)
}

/// Follows a call and changes nothing. Used on the call's event loop.
protocol CallEventHandler {
  /// `path` is the call's own, and so is `logger`, or else it is that of the channel.
  mutating func handle(_ event: CallEvent, _ path: String, _ logger: @autoclosure () -> Logger)
}

/// Passes the events of a call on the client to a handler.
final class ClientEventInterceptor<Request: Sendable, Response: Sendable, Handler: CallEventHandler>:
  ClientInterceptor<
    Request, Response
  >
{
  private var handler: Handler

  init(_ handler: Handler) {
    self.handler = handler
    super.init()
  }

  override func send(
    _ part: GRPCClientRequestPart<Request>,
    promise: EventLoopPromise<Void>?,
    context: ClientInterceptorContext<Request, Response>
  ) {
    switch part {
    case .metadata(let headers): handler.handle(.started(headers), context.path, context.chosenLogger)
    case .message: handler.handle(.request, context.path, context.chosenLogger)
    case .end: break
    }
    context.send(part, promise: promise)
  }

  override func receive(
    _ part: GRPCClientResponsePart<Response>,
    context: ClientInterceptorContext<Request, Response>
  ) {
    switch part {
    case .metadata: break
    case .message: handler.handle(.response, context.path, context.chosenLogger)
    case .end(let status, _): handler.handle(.ended(status), context.path, context.chosenLogger)
    }
    context.receive(part)
  }

  override func errorCaught(_ error: any Error, context: ClientInterceptorContext<Request, Response>) {
    handler.handle(.ended(GRPCStatus(describing: error)), context.path, context.chosenLogger)
    context.errorCaught(error)
  }
}

/// Passes the events of a call on the server to a handler.
final class ServerEventInterceptor<Request: Sendable, Response: Sendable, Handler: CallEventHandler>:
  ServerInterceptor<
    Request, Response
  >
{
  private var handler: Handler

  init(_ handler: Handler) {
    self.handler = handler
    super.init()
  }

  override func receive(
    _ part: GRPCServerRequestPart<Request>,
    context: ServerInterceptorContext<Request, Response>
  ) {
    switch part {
    case .metadata(let headers): handler.handle(.started(headers), context.path, context.logger)
    case .message: handler.handle(.request, context.path, context.logger)
    case .end: break
    }
    context.receive(part)
  }

  override func send(
    _ part: GRPCServerResponsePart<Response>,
    promise: EventLoopPromise<Void>?,
    context: ServerInterceptorContext<Request, Response>
  ) {
    switch part {
    case .metadata: break
    case .message: handler.handle(.response, context.path, context.logger)
    case .end(let status, _): handler.handle(.ended(status), context.path, context.logger)
    }
    context.send(part, promise: promise)
  }
}
