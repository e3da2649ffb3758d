/// One interceptor's place in the chain of a call: what it may know, and the way to its neighbours.
///
/// Usable from any thread; off the event loop, parts are handed over to it in the order of these calls.
@frozen
public struct ServerInterceptorContext<Request: Sendable, Response: Sendable>: Sendable {
  @usableFromInline let pipeline: ServerPipeline<Request, Response>
  @usableFromInline let index: Int

  @inlinable
  init(_ pipeline: ServerPipeline<Request, Response>, _ index: Int) {
    self.pipeline = pipeline
    self.index = index
  }

  /// The loop that the call's parts are handled on.
  public var eventLoop: any EventLoop { pipeline.eventLoop }

  /// Where to log to; quiet unless the server's options name a logger.
  public var logger: Logger { pipeline.stream.logger }

  /// What may be sent in the call, and how often.
  public var type: GRPCCallType { pipeline.codec.method.type }

  /// The method that is called.
  public var method: MethodDescriptor { pipeline.codec.method }

  /// The path of the method, such as `/echo.Echo/Get`.
  public var path: String { pipeline.codec.method.path }

  /// Who is at the other end of the connection.
  public var peer: PeerIdentity { pipeline.stream.peer }

  /// The address of the other end, such as `ipv4:127.0.0.1:50051`.
  public var remoteAddress: String { peer.address }

  /// When the client stops waiting.
  public var deadline: ContinuousClock.Instant? { pipeline.stream.deadline }

  /// What the interceptors and the handler of this call share.
  public var userInfo: UserInfo {
    get { pipeline.stream.userInfo }
    nonmutating set { pipeline.stream.userInfo = newValue }
  }

  /// Hands a part to the next interceptor towards the handler.
  @inlinable
  public func receive(_ part: GRPCServerRequestPart<Request>) {
    pipeline.receive(part, at: index &+ 1)
  }

  /// Hands a part to the next interceptor towards the network. Once the call has ended the promise fails.
  @inlinable
  public func send(_ part: GRPCServerResponsePart<Response>, promise: EventLoopPromise<Void>?) {
    pipeline.send(part, promise: promise, to: index &- 1)
  }

  /// Tells the next interceptor towards the handler that the call failed.
  @inlinable
  public func errorCaught(_ error: any Error) {
    pipeline.errorCaught(error, at: index + 1)
  }

  /// Asks the next interceptor towards the network for so many more requests, where they stream.
  @inlinable
  public func receiveNextMessages(_ count: Int) {
    pipeline.receiveNextMessages(count, to: index - 1)
  }

  /// Whether the call has ended already: the client cancelled, its deadline passed, or it is gone.
  public var isCancelled: Bool { pipeline.stream.isCancelled }
}
