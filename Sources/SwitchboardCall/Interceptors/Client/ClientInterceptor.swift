/// Sees every part of a call on the client, with its messages typed, and may change, hold back, drop or add
/// parts. Subclass it and override what is of interest: the rest forwards.
///
/// The first interceptor of a call is the first to see what is sent and the last to see what is received.
/// All methods are called on the call's event loop, unless the interceptor names an executor of its own. An instance
/// serves one call: share state through the factory that makes them.
open class ClientInterceptor<Request: Sendable, Response: Sendable>: ChainedInterceptor {
  /// For subclasses: an interceptor that forwards everything.
  public init() {}

  /// A part on its way to the network. Forward it, or another, with `context.send`.
  ///
  /// The promise succeeds when the part has left for the network, and fails when it never will.
  open func send(
    _ part: GRPCClientRequestPart<Request>,
    promise: EventLoopPromise<Void>?,
    context: ClientInterceptorContext<Request, Response>
  ) {
    context.send(part, promise: promise)
  }

  /// A part on its way to the caller. Forward it, or another, with `context.receive`.
  open func receive(
    _ part: GRPCClientResponsePart<Response>,
    context: ClientInterceptorContext<Request, Response>
  ) {
    context.receive(part)
  }

  /// The call failed on this side: it could not be sent, its deadline passed, or it was cancelled. What the
  /// peer has to say comes as `end` to `receive` instead.
  open func errorCaught(_ error: any Error, context: ClientInterceptorContext<Request, Response>) {
    context.errorCaught(error)
  }

  /// The caller gives up. The call is over for the caller when the interceptors have seen this, whether or
  /// not they forward it.
  open func cancel(
    promise: EventLoopPromise<Void>?,
    context: ClientInterceptorContext<Request, Response>
  ) {
    context.cancel(promise: promise)
  }

  /// The caller wants so many more responses; with those it asked for before. Only calls that stream responses ask.
  /// Forward it, or another number, now or later, with `context.receiveNextMessages`: what is not asked for does not
  /// leave the network.
  open func receiveNextMessages(_ count: Int, context: ClientInterceptorContext<Request, Response>) {
    context.receiveNextMessages(count)
  }

  /// Where `send`, `cancel` and `receiveNextMessages` are called, in place of the event loop. Asked once per call.
  /// An interceptor that names one executor for requests and another for responses guards what both use.
  open var requestExecutor: InterceptorExecutor? { nil }

  /// Where `receive` and `errorCaught` are called, in place of the event loop. Asked once per call.
  open var responseExecutor: InterceptorExecutor? { nil }

  @usableFromInline
  final var executors: InterceptorExecutors {
    InterceptorExecutors(sent: requestExecutor, received: responseExecutor)
  }
}
