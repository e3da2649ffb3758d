/// Sees every part of a call on the client, with its messages typed, and may change, hold back, drop or add
/// parts. Subclass it and override what is of interest: the rest forwards.
///
/// The first interceptor of a call is the first to see what is sent and the last to see what is received.
/// All methods are called on the call's event loop. An instance serves one call: share state through the
/// factory that makes them.
open class ClientInterceptor<Request: Sendable, Response: Sendable> {
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
}
