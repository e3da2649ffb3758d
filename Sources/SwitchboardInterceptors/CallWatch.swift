import SwitchboardCall

/// An event of a call in its chain of interceptors, on either side.
enum CallEvent {
  case started(HPACKHeaders)
  case request
  case response
  case ended(GRPCStatus)
}

/// Follows a call and changes nothing. Used on the call's event loop.
protocol CallWatcher {
  /// `path` and `logger` are the call's own.
  mutating func note(_ event: CallEvent, _ path: String, _ logger: @autoclosure () -> Logger)
}

/// Shows a watcher the client's side of a call.
final class ClientWatch<Request: Sendable, Response: Sendable, Watcher: CallWatcher>: ClientInterceptor<
  Request, Response
>
{
  private var watcher: Watcher

  init(_ watcher: Watcher) {
    self.watcher = watcher
    super.init()
  }

  override func send(
    _ part: GRPCClientRequestPart<Request>,
    promise: EventLoopPromise<Void>?,
    context: ClientInterceptorContext<Request, Response>
  ) {
    switch part {
    case .metadata(let headers): watcher.note(.started(headers), context.path, context.logger)
    case .message: watcher.note(.request, context.path, context.logger)
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
    case .message: watcher.note(.response, context.path, context.logger)
    case .end(let status, _): watcher.note(.ended(status), context.path, context.logger)
    }
    context.receive(part)
  }

  override func errorCaught(_ error: any Error, context: ClientInterceptorContext<Request, Response>) {
    watcher.note(.ended(GRPCStatus(describing: error)), context.path, context.logger)
    context.errorCaught(error)
  }
}

/// Shows a watcher the server's side of a call.
final class ServerWatch<Request: Sendable, Response: Sendable, Watcher: CallWatcher>: ServerInterceptor<
  Request, Response
>
{
  private var watcher: Watcher

  init(_ watcher: Watcher) {
    self.watcher = watcher
    super.init()
  }

  override func receive(
    _ part: GRPCServerRequestPart<Request>,
    context: ServerInterceptorContext<Request, Response>
  ) {
    switch part {
    case .metadata(let headers): watcher.note(.started(headers), context.path, context.logger)
    case .message: watcher.note(.request, context.path, context.logger)
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
    case .message: watcher.note(.response, context.path, context.logger)
    case .end(let status, _): watcher.note(.ended(status), context.path, context.logger)
    }
    context.send(part, promise: promise)
  }
}
