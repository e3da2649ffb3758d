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
  public var logger: Logger { pipeline.transport.options.logger }

  /// What may be sent in the call, and how often.
  public var type: GRPCCallType { pipeline.transport.type }

  /// The path of the method, such as `/echo.Echo/Get`. To be changed on the event loop, until the metadata has
  /// left the chain.
  public var path: String {
    get { pipeline.transport.path }
    nonmutating set { pipeline.transport.path = newValue }
  }

  /// The call's options, except for its metadata, which is the first part of the stream. To be changed on the
  /// event loop, until the metadata has left the chain.
  public var options: CallOptions {
    get { pipeline.transport.options }
    nonmutating set { pipeline.transport.options = newValue }
  }

  /// Hands a part to the next interceptor towards the network. Once the call has ended the promise fails.
  @inlinable
  public func send(_ part: GRPCClientRequestPart<Request>, promise: EventLoopPromise<Void>?) {
    pipeline.send(part, promise: promise, to: index + 1)
  }

  /// Hands a part to the next interceptor towards the caller.
  @inlinable
  public func receive(_ part: GRPCClientResponsePart<Response>) {
    pipeline.receive(part, at: index - 1)
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
}
