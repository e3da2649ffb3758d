/// One interceptor's place in the chain of a call: what it may know, and the way to its neighbours.
///
/// Usable from any thread; off the event loop, parts are handed over to it in the order of these calls.
@frozen
public struct ClientInterceptorContext<Request: Sendable, Response: Sendable>: Sendable {
  @usableFromInline let pipeline: ClientPipeline<Request, Response>
  @usableFromInline let index: Int

  @inlinable
  init(_ pipeline: ClientPipeline<Request, Response>, _ index: Int) {
    self.pipeline = pipeline
    self.index = index
  }

  /// The loop that the call's parts are handled on.
  public var eventLoop: any EventLoop { pipeline.eventLoop }

  /// Where to log to; quiet unless the call's options name a logger.
  public var logger: Logger { options.logger }

  /// What may be sent in the call, and how often.
  public var type: GRPCCallType { pipeline.method.type }

  /// The method as it was called, whatever became of `path` since.
  public var method: MethodDescriptor { pipeline.method }

  /// The path of the method, such as `/echo.Echo/Get`. A change counts until the metadata has left the chain.
  public var path: String {
    get { pipeline.settings.current.path ?? pipeline.method.path }
    nonmutating set { pipeline.settings.change { $0.path = newValue } }
  }

  /// The target that the call goes to, such as `localhost:50051`. A change counts until the metadata has left the
  /// chain; the call fails where its transport cannot reach another target.
  public var host: String {
    get { pipeline.settings.current.host ?? pipeline.transport.host }
    nonmutating set { pipeline.settings.change { $0.host = newValue } }
  }

  /// Whether the call may be repeated, or answered from a cache. A change counts until the metadata has left the
  /// chain.
  public var safety: RequestOptions.Safety {
    get { options.safety }
    nonmutating set {
      var options = options
      options.safety = newValue
      self.options = options
    }
  }

  /// Where the call goes, in one value.
  public var requestOptions: RequestOptions { RequestOptions(host: host, path: path, safety: safety) }

  /// The call's options, except for its metadata, which is the first part of the stream, and for the factories of
  /// interceptors, which have been asked. A change counts until the metadata has left the chain.
  public var options: CallOptions {
    get { pipeline.settings.current.options }
    nonmutating set { pipeline.settings.change { $0.change(newValue, pipeline.transport.environment.time) } }
  }

  /// When the caller stops waiting.
  public var deadline: ContinuousClock.Instant? { pipeline.deadline }

  /// Hands a part to the next interceptor towards the network. Once the call has ended the promise fails.
  @inlinable
  public func send(_ part: GRPCClientRequestPart<Request>, promise: EventLoopPromise<Void>?) {
    pipeline.send(part, promise: promise, to: index &+ 1)
  }

  /// Hands a part to the next interceptor towards the caller.
  @inlinable
  public func receive(_ part: GRPCClientResponsePart<Response>) {
    pipeline.receive(part, at: index &- 1)
  }

  /// Tells the next interceptor towards the caller that the call failed.
  @inlinable
  public func errorCaught(_ error: any Error) {
    pipeline.errorCaught(error, at: index - 1)
  }

  /// Cancels the call, from the next interceptor towards the network on.
  @inlinable
  public func cancel(promise: EventLoopPromise<Void>?) {
    pipeline.cancel(promise: promise, to: index + 1)
  }

  /// Asks the next interceptor towards the network for so many more responses, where they stream.
  @inlinable
  public func receiveNextMessages(_ count: Int) {
    pipeline.receiveNextMessages(count, to: index + 1)
  }
}
