/// Sees every part of a server's call, with typed messages, and may change, delay, drop or add parts. Subclass it and
/// override the methods that you need; the others forward.
///
/// The first interceptor of a call is the first to see what is received and the last to see what is sent. All methods
/// run on the call's event loop, unless the interceptor names an executor. An instance serves one call: share state
/// through the factory. Only an interceptor without any state of a call can serve all calls, on several threads at once.
///
/// ```swift
/// final class Guarding<Request: Sendable, Response: Sendable>: ServerInterceptor<Request, Response> {
///   override func receive(
///     _ part: GRPCServerRequestPart<Request>,
///     context: ServerInterceptorContext<Request, Response>
///   ) {
///     guard case .metadata(let metadata) = part, metadata.first(name: "key") != "secret" else {
///       return context.receive(part)
///     }
///     context.send(.end(GRPCStatus(code: .unauthenticated), HPACKHeaders()), promise: nil)
///   }
/// }
/// ```
open class ServerInterceptor<Request: Sendable, Response: Sendable>: ChainedInterceptor {
  /// Creates an interceptor that forwards everything.
  public init() {}

  /// Called with a part on its way to the handler. Forward it, or another, with `context.receive`.
  open func receive(
    _ part: GRPCServerRequestPart<Request>,
    context: ServerInterceptorContext<Request, Response>
  ) {
    context.receive(part)
  }

  /// Called with a part on its way to the network. Forward it, or another, with `context.send`.
  ///
  /// Every call ends with an `end` here. Its status may report a handler's error, a request that cannot be decoded, or
  /// a disconnected client.
  ///
  /// The promise succeeds when the part has been sent, and fails if it never will be.
  open func send(
    _ part: GRPCServerResponsePart<Response>,
    promise: EventLoopPromise<Void>?,
    context: ServerInterceptorContext<Request, Response>
  ) {
    context.send(part, promise: promise)
  }

  /// Called if the call fails before the handler answers: a request cannot be decoded, the client disconnects, or the
  /// deadline passes. Forward the error with `context.errorCaught`, or answer with `context.send`.
  open func errorCaught(_ error: any Error, context: ServerInterceptorContext<Request, Response>) {
    context.errorCaught(error)
  }

  /// Called when the handler of a call that streams requests demands `count` more, in addition to earlier demand.
  /// Forward the demand with `context.receiveNextMessages`, now or later, with any number. Without demand, the client
  /// soon has to wait.
  open func receiveNextMessages(_ count: Int, context: ServerInterceptorContext<Request, Response>) {
    context.receiveNextMessages(count)
  }

  /// The executor of `receive` and `errorCaught`; `nil` means the event loop. Read once per call. An interceptor with
  /// different executors for requests and responses must guard the state that both use.
  open var requestExecutor: InterceptorExecutor? { nil }

  /// The executor of `send` and `receiveNextMessages`; `nil` means the event loop. Read once per call.
  open var responseExecutor: InterceptorExecutor? { nil }

  @usableFromInline
  final var executors: InterceptorExecutors {
    InterceptorExecutors(sent: responseExecutor, received: requestExecutor)
  }
}
