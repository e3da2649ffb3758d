/// An interceptor's view of its call, through which it passes parts to its neighbors in the chain.
///
/// Usable from any thread. Parts passed on other threads move to the event loop in order; others may overtake them.
@frozen
public struct ServerInterceptorContext<Request: Sendable, Response: Sendable>: ChainContext, Sendable {
  @usableFromInline let chain: ServerChain<Request, Response>
  @usableFromInline package let index: Int

  @inlinable @inline(__always)
  init(_ chain: ServerChain<Request, Response>, _ index: Int) {
    self.chain = chain
    self.index = index
  }

  @inlinable @inline(__always)
  static func with(_ chain: ServerChain<Request, Response>, _ index: Int, _ body: (Self) -> Void) {
    body(Self(chain, index))
  }

  /// The call on the transport's side of the chain.
  package var stream: any ServerCallState { chain.stream }

  /// The interceptors of the call.
  var interceptors: [ServerInterceptor<Request, Response>] { chain.interceptors.all }

  /// The chain, for interceptors that work outside of it.
  package var sideWorkChain: any SideWorkChain { chain }

  /// The context of the tasks of the call, if it has one.
  package var taskContext: (any ContextSource)? { chain.stream.taskContext }

  /// The loop that handles the call's parts.
  public var eventLoop: any EventLoop { chain.eventLoop }

  /// The call's logger, which the server's options name: by default, one of warnings and errors to standard error.
  public var logger: Logger { chain.stream.logger }

  /// Which sides of the call stream.
  public var type: GRPCCallType { chain.codec.method.type }

  /// The called method.
  public var method: MethodDescriptor { chain.codec.method }

  /// The path of the method, such as `/echo.Echo/Get`.
  public var path: String { chain.codec.method.path }

  /// The peer of the connection.
  public var peer: PeerIdentity { chain.stream.peer }

  /// The peer's address, such as `ipv4:127.0.0.1:50051`.
  public var remoteAddress: String { peer.address }

  /// When the client stops waiting.
  public var deadline: ContinuousClock.Instant? { chain.stream.deadline?.time }

  /// Values shared by the interceptors and the handler of this call.
  public var userInfo: UserInfo {
    get { chain.stream.userInfo }
    nonmutating set { chain.stream.userInfo = newValue }
  }

  /// Passes a part to the next interceptor towards the handler.
  @inlinable @inline(__always)
  public func receive(_ part: GRPCServerRequestPart<Request>) {
    chain.receive(part, at: index &+ 1)
  }

  /// Passes a part to the next interceptor towards the network. The promise fails if the call has ended.
  @inlinable @inline(__always)
  public func send(_ part: GRPCServerResponsePart<Response>, promise: EventLoopPromise<Void>?) {
    chain.send(part, promise: promise, to: index &- 1)
  }

  /// Passes an error to the next interceptor towards the handler.
  @inlinable
  public func errorCaught(_ error: any Error) {
    chain.errorCaught(error, at: index + 1)
  }

  /// Requests `count` more requests from the next interceptor towards the network, if requests stream.
  @inlinable
  public func receiveNextMessages(_ count: Int) {
    chain.receiveNextMessages(count, to: index - 1)
  }

  /// Whether the call has ended: it was answered, the client cancelled or disconnected, or its deadline passed.
  public var isCancelled: Bool { chain.stream.isCancelled }
}
