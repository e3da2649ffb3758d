/// An interceptor's view of its call, through which it passes parts to its neighbors in the chain.
///
/// Usable from any thread. Parts passed on other threads move to the event loop in order; others may overtake them.
@frozen
public struct ClientInterceptorContext<Request: Sendable, Response: Sendable>: ChainContext, Sendable {
  @usableFromInline let chain: ClientChain<Request, Response>
  @usableFromInline package let index: Int

  @inlinable @inline(__always)
  init(_ chain: ClientChain<Request, Response>, _ index: Int) {
    self.chain = chain
    self.index = index
  }

  @inlinable @inline(__always)
  static func with(_ chain: ClientChain<Request, Response>, _ index: Int, _ body: (Self) -> Void) {
    body(Self(chain, index))
  }

  /// The chain, for interceptors that work outside of it.
  package var sideWorkChain: any SideWorkChain { chain }

  /// The context of the caller's task, if it has one.
  package var taskContext: (any ContextSource)? { chain.callerContext }

  /// The interceptors between this one and the network, in the order in which requests pass them. To be read on the loop.
  package var interceptorsBelow: ArraySlice<ClientInterceptor<Request, Response>> {
    chain.interceptors.all.dropFirst(index + 1)
  }

  /// The log of the channel, which calls do not choose.
  package var channelLogger: Logger { chain.transport.remarks.logger }

  /// The logger of the call's options, or else that of the channel.
  package var chosenLogger: Logger { options.chosenLogger ?? channelLogger }

  /// The loop that handles the call's parts.
  public var eventLoop: any EventLoop { chain.eventLoop }

  /// The call's logger; silent unless the options name one.
  public var logger: Logger { options.logger }

  /// Which sides of the call stream.
  public var type: GRPCCallType { chain.method.type }

  /// The called method, even if `path` was changed.
  public var method: MethodDescriptor { chain.method }

  /// The path of the method, such as `/echo.Echo/Get`. It can be changed until the metadata leaves the chain.
  public var path: String {
    get { chain.settings.current.path ?? chain.method.path }
    nonmutating set { chain.change(path: newValue, by: index) }
  }

  /// The target of the call, such as `localhost:50051`. It can be changed until the metadata leaves the chain; the call
  /// fails if its transport cannot reach another target.
  public var host: String {
    get { chain.settings.current.host ?? chain.transport.host }
    nonmutating set { chain.change(host: newValue, by: index) }
  }

  /// Whether the call may be repeated or cached. It can be changed until the metadata leaves the chain.
  public var safety: RequestOptions.Safety {
    get { options.safety }
    nonmutating set {
      var options = options
      options.safety = newValue
      self.options = options
    }
  }

  /// The host, the path and the safety.
  public var requestOptions: RequestOptions { RequestOptions(host: host, path: path, safety: safety) }

  /// The call's options, which can be changed until the metadata leaves the chain. Later changes have no effect, which the
  /// channel's log says once, except for those of `logger`, `logContext` and `safety`: only interceptors read these. Changes of
  /// `initialMetadata` and `interceptorFactories` never have any: the first part of the stream has the metadata, and the
  /// factories were used.
  public var options: CallOptions {
    get { chain.settings.current.options }
    nonmutating set { chain.change(newValue, by: index) }
  }

  /// When the caller stops waiting.
  public var deadline: ContinuousClock.Instant? { chain.deadline }

  /// Passes a part to the next interceptor towards the network. The promise fails if the call has ended.
  @inlinable @inline(__always)
  public func send(_ part: GRPCClientRequestPart<Request>, promise: EventLoopPromise<Void>?) {
    chain.send(part, promise: promise, to: index &+ 1)
  }

  /// Passes a part to the next interceptor towards the caller.
  @inlinable @inline(__always)
  public func receive(_ part: GRPCClientResponsePart<Response>) {
    chain.receive(part, at: index &- 1)
  }

  /// Passes an error to the next interceptor towards the caller.
  @inlinable
  public func errorCaught(_ error: any Error) {
    chain.errorCaught(error, at: index - 1)
  }

  /// Cancels the call, starting with the next interceptor towards the network.
  @inlinable
  public func cancel(promise: EventLoopPromise<Void>?) {
    chain.cancel(promise: promise, to: index + 1)
  }

  /// Requests `count` more responses from the next interceptor towards the network, if responses stream.
  @inlinable
  public func receiveNextMessages(_ count: Int) {
    chain.receiveNextMessages(count, to: index + 1)
  }
}
