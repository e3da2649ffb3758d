/// Calls methods that are described in Swift: what a generated client is for a service of a `.proto` file.
///
/// ```swift
/// let stock = MethodClient(channel: channel)
/// let item = try await stock.unary(Stock.find, Query(name: "kettle"))
/// ```
public struct MethodClient: Sendable {
  /// What the calls are made on.
  public let channel: Channel
  /// For all calls; those that have options of their own override them field by field.
  public var defaultCallOptions: CallOptions

  /// A client on `channel`.
  public init(channel: Channel, defaultCallOptions: CallOptions = CallOptions()) {
    self.channel = channel
    self.defaultCallOptions = defaultCallOptions
  }
}

extension MethodClient {
  /// A call's own interceptors, between those of its options and the channel's.
  @inlinable
  func scoped<Requests: Marshaller, Responses: Marshaller>(
    _ own: ClientInterceptorChain<Requests.Message, Responses.Message>?,
    _ method: Method<Requests, Responses>,
    _ options: CallOptions?
  ) -> ClientInterceptorChain<Requests.Message, Responses.Message>? {
    channel.scoped(
      own,
      for: method.descriptor,
      defaultCallOptions.overridden(by: options).interceptorFactories
    )
  }

  /// One request, one response.
  @inlinable
  nonisolated(nonsending) public func unary<Requests: Marshaller, Responses: Marshaller>(
    _ method: Method<Requests, Responses>,
    _ request: Requests.Message,
    callOptions: CallOptions? = nil,
    interceptors: ClientInterceptorChain<Requests.Message, Responses.Message>? = nil
  ) async throws -> Responses.Message {
    try await channel.unary(
      method,
      request,
      options: defaultCallOptions.overridden(by: callOptions),
      interceptors: scoped(interceptors, method, callOptions)
    )
  }

  /// One request, a stream of responses. The call starts now; dropping the stream cancels it.
  @inlinable
  public func serverStreaming<Requests: Marshaller, Responses: Marshaller>(
    _ method: Method<Requests, Responses>,
    _ request: Requests.Message,
    callOptions: CallOptions? = nil,
    interceptors: ClientInterceptorChain<Requests.Message, Responses.Message>? = nil
  ) -> ResponseStream<Responses.Message> {
    channel.serverStreaming(
      method,
      request,
      options: defaultCallOptions.overridden(by: callOptions),
      interceptors: scoped(interceptors, method, callOptions)
    )
  }

  /// A sequence of requests, one response.
  @inlinable
  nonisolated(nonsending) public func clientStreaming<
    Requests: Marshaller,
    Responses: Marshaller,
    Messages: Sequence<Requests.Message>
  >(
    _ method: Method<Requests, Responses>,
    _ requests: Messages,
    callOptions: CallOptions? = nil,
    interceptors: ClientInterceptorChain<Requests.Message, Responses.Message>? = nil
  ) async throws -> Responses.Message {
    try await channel.clientStreaming(
      method,
      requests,
      options: defaultCallOptions.overridden(by: callOptions),
      interceptors: scoped(interceptors, method, callOptions)
    )
  }

  /// A sequence of requests as they come, one response.
  @inlinable
  nonisolated(nonsending) public func clientStreaming<
    Requests: Marshaller,
    Responses: Marshaller,
    Messages: AsyncSequence & Sendable
  >(
    _ method: Method<Requests, Responses>,
    _ requests: Messages,
    callOptions: CallOptions? = nil,
    interceptors: ClientInterceptorChain<Requests.Message, Responses.Message>? = nil
  ) async throws -> Responses.Message where Messages.Element == Requests.Message {
    try await channel.clientStreaming(
      method,
      requests,
      options: defaultCallOptions.overridden(by: callOptions),
      interceptors: scoped(interceptors, method, callOptions)
    )
  }

  /// A sequence of requests, written while the responses are read.
  @inlinable
  public func bidirectionalStreaming<
    Requests: Marshaller,
    Responses: Marshaller,
    Messages: Sequence<Requests.Message> & Sendable
  >(
    _ method: Method<Requests, Responses>,
    _ requests: Messages,
    callOptions: CallOptions? = nil,
    interceptors: ClientInterceptorChain<Requests.Message, Responses.Message>? = nil
  ) -> ResponseStream<Responses.Message> {
    channel.bidirectionalStreaming(
      method,
      ImmediateSequence(requests),
      options: defaultCallOptions.overridden(by: callOptions),
      interceptors: scoped(interceptors, method, callOptions)
    )
  }

  /// A sequence of requests as they come, written while the responses are read.
  @inlinable
  public func bidirectionalStreaming<
    Requests: Marshaller,
    Responses: Marshaller,
    Messages: AsyncSequence & Sendable
  >(
    _ method: Method<Requests, Responses>,
    _ requests: Messages,
    callOptions: CallOptions? = nil,
    interceptors: ClientInterceptorChain<Requests.Message, Responses.Message>? = nil
  ) -> ResponseStream<Responses.Message> where Messages.Element == Requests.Message {
    channel.bidirectionalStreaming(
      method,
      requests,
      options: defaultCallOptions.overridden(by: callOptions),
      interceptors: scoped(interceptors, method, callOptions)
    )
  }
}

// MARK: - Calls as objects

extension MethodClient {
  /// Starts a call with one request and one response.
  @inlinable
  public func makeUnaryCall<Requests: Marshaller, Responses: Marshaller>(
    _ method: Method<Requests, Responses>,
    _ request: Requests.Message,
    callOptions: CallOptions? = nil,
    interceptors: ClientInterceptorChain<Requests.Message, Responses.Message>? = nil
  ) -> AsyncUnaryCall<Responses.Message> {
    channel.makeUnaryCall(
      method,
      request,
      options: defaultCallOptions.overridden(by: callOptions),
      interceptors: scoped(interceptors, method, callOptions)
    )
  }

  /// Starts a call with one request and a stream of responses.
  @inlinable
  public func makeServerStreamingCall<Requests: Marshaller, Responses: Marshaller>(
    _ method: Method<Requests, Responses>,
    _ request: Requests.Message,
    callOptions: CallOptions? = nil,
    interceptors: ClientInterceptorChain<Requests.Message, Responses.Message>? = nil
  ) -> AsyncServerStreamingCall<Responses.Message> {
    channel.makeServerStreamingCall(
      method,
      request,
      options: defaultCallOptions.overridden(by: callOptions),
      interceptors: scoped(interceptors, method, callOptions)
    )
  }

  /// Starts a call with a stream of requests and one response.
  @inlinable
  public func makeClientStreamingCall<Requests: Marshaller, Responses: Marshaller>(
    _ method: Method<Requests, Responses>,
    callOptions: CallOptions? = nil,
    interceptors: ClientInterceptorChain<Requests.Message, Responses.Message>? = nil
  ) -> AsyncClientStreamingCall<Requests.Message, Responses.Message> {
    channel.makeClientStreamingCall(
      method,
      options: defaultCallOptions.overridden(by: callOptions),
      interceptors: scoped(interceptors, method, callOptions)
    )
  }

  /// Starts a call with streams both ways.
  @inlinable
  public func makeBidirectionalStreamingCall<Requests: Marshaller, Responses: Marshaller>(
    _ method: Method<Requests, Responses>,
    callOptions: CallOptions? = nil,
    interceptors: ClientInterceptorChain<Requests.Message, Responses.Message>? = nil
  ) -> AsyncBidirectionalStreamingCall<Requests.Message, Responses.Message> {
    channel.makeBidirectionalStreamingCall(
      method,
      options: defaultCallOptions.overridden(by: callOptions),
      interceptors: scoped(interceptors, method, callOptions)
    )
  }
}
