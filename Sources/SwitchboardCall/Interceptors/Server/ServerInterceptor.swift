/// Sees every part of a call on the server, with its messages typed, and may change, hold back, drop or add
/// parts. Subclass it and override what is of interest: the rest forwards.
///
/// The first interceptor of a call is the first to see what is received and the last to see what is sent.
/// All methods are called on the call's event loop, unless the interceptor names an executor of its own. An instance
/// serves one call: share state through the factory that makes them.
open class ServerInterceptor<Request: Sendable, Response: Sendable>: ChainedInterceptor {
  /// For subclasses: an interceptor that forwards everything.
  public init() {}

  /// A part on its way to the handler. Forward it, or another, with `context.receive`.
  open func receive(
    _ part: GRPCServerRequestPart<Request>,
    context: ServerInterceptorContext<Request, Response>
  ) {
    context.receive(part)
  }

  /// A part on its way to the network. Forward it, or another, with `context.send`.
  ///
  /// However the call ends, an `end` comes by here: an error of the handler, a request that could not be read
  /// or a client that went away too, as a status.
  ///
  /// The promise succeeds when the part has left for the network, and fails when it never will.
  open func send(
    _ part: GRPCServerResponsePart<Response>,
    promise: EventLoopPromise<Void>?,
    context: ServerInterceptorContext<Request, Response>
  ) {
    context.send(part, promise: promise)
  }

  /// The call failed before it reached the handler's answer: a request could not be read, the client is gone,
  /// or the deadline has passed. Forward it with `context.errorCaught`, or answer with `context.send`.
  open func errorCaught(_ error: any Error, context: ServerInterceptorContext<Request, Response>) {
    context.errorCaught(error)
  }

  /// The handler wants so many more requests; with those it asked for before. Only calls that stream requests ask.
  /// Forward it, or another number, now or later, with `context.receiveNextMessages`: what is not asked for, the
  /// client cannot send for long.
  open func receiveNextMessages(_ count: Int, context: ServerInterceptorContext<Request, Response>) {
    context.receiveNextMessages(count)
  }

  /// Where `receive` and `errorCaught` are called, in place of the event loop. Asked once per call.
  /// An interceptor that names one executor for requests and another for responses guards what both use.
  open var requestExecutor: InterceptorExecutor? { nil }

  /// Where `send` and `receiveNextMessages` are called, in place of the event loop. Asked once per call.
  open var responseExecutor: InterceptorExecutor? { nil }

  @usableFromInline
  final var executors: InterceptorExecutors {
    InterceptorExecutors(sent: responseExecutor, received: requestExecutor)
  }
}
