/// Sees every part of a client's call, with typed messages, and may change, delay, drop or add parts. Subclass it and
/// override what you need; the rest forwards.
///
/// The first interceptor of a call is the first to see what is sent and the last to see what is received. All methods
/// run on the call's event loop, unless the interceptor names an executor. An instance serves one call: share state
/// through the factory.
///
/// ```swift
/// final class Tagging<Request: Sendable, Response: Sendable>: ClientInterceptor<Request, Response> {
///   override func send(
///     _ part: GRPCClientRequestPart<Request>,
///     promise: EventLoopPromise<Void>?,
///     context: ClientInterceptorContext<Request, Response>
///   ) {
///     guard case .metadata(var metadata) = part else { return context.send(part, promise: promise) }
///     metadata.add(name: "tag", value: "blue")
///     context.send(.metadata(metadata), promise: promise)
///   }
/// }
/// ```
open class ClientInterceptor<Request: Sendable, Response: Sendable>: ChainedInterceptor {
  /// Creates an interceptor that forwards everything.
  public init() {}

  /// Called with a part on its way to the network. Forward it, or another, with `context.send`.
  ///
  /// The promise succeeds when the part has been sent, and fails if it never will be.
  open func send(
    _ part: GRPCClientRequestPart<Request>,
    promise: EventLoopPromise<Void>?,
    context: ClientInterceptorContext<Request, Response>
  ) {
    context.send(part, promise: promise)
  }

  /// Called with a part on its way to the caller. Forward it, or another, with `context.receive`.
  open func receive(
    _ part: GRPCClientResponsePart<Response>,
    context: ClientInterceptorContext<Request, Response>
  ) {
    context.receive(part)
  }

  /// The call failed on this side: it could not be sent, its deadline passed, or it was cancelled. A failure that the
  /// peer reports reaches `receive` as `end` instead.
  open func errorCaught(_ error: any Error, context: ClientInterceptorContext<Request, Response>) {
    context.errorCaught(error)
  }

  /// The caller cancels. For the caller, the call is over when the interceptors have seen this, forwarded or not.
  open func cancel(
    promise: EventLoopPromise<Void>?,
    context: ClientInterceptorContext<Request, Response>
  ) {
    context.cancel(promise: promise)
  }

  /// The caller requests `count` more responses, in addition to those requested before; only for calls that stream
  /// them. Forward the request with `context.receiveNextMessages`, now or later, with any number. Responses that are
  /// not requested are not read from the network.
  open func receiveNextMessages(_ count: Int, context: ClientInterceptorContext<Request, Response>) {
    context.receiveNextMessages(count)
  }

  /// Runs `send`, `cancel` and `receiveNextMessages` instead of the event loop; read once per call. An interceptor with
  /// different executors for requests and responses must guard the state that both use.
  open var requestExecutor: InterceptorExecutor? { nil }

  /// Runs `receive` and `errorCaught` instead of the event loop; read once per call.
  open var responseExecutor: InterceptorExecutor? { nil }

  @usableFromInline
  final var executors: InterceptorExecutors {
    InterceptorExecutors(sent: requestExecutor, received: responseExecutor)
  }
}
