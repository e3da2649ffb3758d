/// Sees every part of a client's call, with typed messages, and may change, delay, drop or add parts. Subclass it and
/// override the methods that you need; the others forward.
///
/// The first interceptor of a call is the first to see what is sent and the last to see what is received. All methods
/// run on the call's event loop, unless the interceptor names an executor. An instance serves one call: share state
/// through the factory. Only an interceptor without any state of a call can serve all calls, on several threads at once.
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

  /// Called if the call fails on this side: it cannot be sent, its deadline passes, or it is cancelled. A failure that
  /// the peer reports reaches `receive` as an `end` instead.
  open func errorCaught(_ error: any Error, context: ClientInterceptorContext<Request, Response>) {
    context.errorCaught(error)
  }

  /// Called when the caller cancels. For the caller, the call is over after this, whether it is forwarded or not.
  open func cancel(
    promise: EventLoopPromise<Void>?,
    context: ClientInterceptorContext<Request, Response>
  ) {
    context.cancel(promise: promise)
  }

  /// Called when the caller of a call that streams responses demands `count` more, in addition to earlier demand.
  /// Forward the demand with `context.receiveNextMessages`, now or later, with any number. Responses without demand are
  /// not read from the network.
  open func receiveNextMessages(_ count: Int, context: ClientInterceptorContext<Request, Response>) {
    context.receiveNextMessages(count)
  }

  /// The executor of `send`, `cancel` and `receiveNextMessages`; `nil` means the event loop. Read once per call. An
  /// interceptor with different executors for requests and responses must guard the state that both use.
  open var requestExecutor: InterceptorExecutor? { nil }

  /// The executor of `receive` and `errorCaught`; `nil` means the event loop. Read once per call.
  open var responseExecutor: InterceptorExecutor? { nil }

  @usableFromInline
  final var executors: InterceptorExecutors {
    InterceptorExecutors(sent: requestExecutor, received: responseExecutor)
  }
}
