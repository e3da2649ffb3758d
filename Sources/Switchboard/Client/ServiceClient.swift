/// What generated clients stand on: a channel, the options of their calls and a factory of interceptors.
///
/// The closure that each kind of call takes asks the factory for the interceptors of its method.
public protocol ServiceClient: Sendable {
  /// The service's own protocol of factories.
  associatedtype InterceptorFactory

  /// What the calls are made on.
  var channel: Channel { get }
  /// For all calls; those that have options of their own override them field by field.
  var defaultCallOptions: CallOptions { get set }
  /// The factory, if there is one.
  var interceptors: ClientInterceptors<InterceptorFactory> { get }
}

extension ServiceClient {
  /// The interceptors of one call, of all scopes.
  @inlinable
  func chain<Requests: Marshaller, Responses: Marshaller>(
    _ method: Method<Requests, Responses>,
    _ options: CallOptions?,
    _ make: (InterceptorFactory) -> [ClientInterceptor<Requests.Message, Responses.Message>]
  ) -> ClientInterceptorChain<Requests.Message, Responses.Message>? {
    interceptors.make(
      for: method.descriptor,
      options: options?.interceptorFactories ?? defaultCallOptions.interceptorFactories ?? [],
      channel: channel.interceptorFactories,
      make
    )
  }

  /// One request, one response.
  @inlinable
  nonisolated(nonsending) public func unary<Requests: Marshaller, Responses: Marshaller>(
    _ method: Method<Requests, Responses>,
    _ request: Requests.Message,
    _ options: CallOptions?,
    _ interceptors: (InterceptorFactory) -> [ClientInterceptor<Requests.Message, Responses.Message>]
  ) async throws -> Responses.Message {
    try await channel.unary(
      method,
      request,
      options: defaultCallOptions.overridden(by: options),
      interceptors: chain(method, options, interceptors)
    )
  }

  /// One request, a stream of responses. The call starts now; dropping the stream cancels it.
  @inlinable
  public func serverStreaming<Requests: Marshaller, Responses: Marshaller>(
    _ method: Method<Requests, Responses>,
    _ request: Requests.Message,
    _ options: CallOptions?,
    _ interceptors: (InterceptorFactory) -> [ClientInterceptor<Requests.Message, Responses.Message>]
  ) -> ResponseStream<Responses.Message> {
    channel.serverStreaming(
      method,
      request,
      options: defaultCallOptions.overridden(by: options),
      interceptors: chain(method, options, interceptors)
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
    _ options: CallOptions?,
    _ interceptors: (InterceptorFactory) -> [ClientInterceptor<Requests.Message, Responses.Message>]
  ) async throws -> Responses.Message {
    try await channel.clientStreaming(
      method,
      requests,
      options: defaultCallOptions.overridden(by: options),
      interceptors: chain(method, options, interceptors)
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
    _ options: CallOptions?,
    _ interceptors: (InterceptorFactory) -> [ClientInterceptor<Requests.Message, Responses.Message>]
  ) async throws -> Responses.Message where Messages.Element == Requests.Message {
    try await channel.clientStreaming(
      method,
      requests,
      options: defaultCallOptions.overridden(by: options),
      interceptors: chain(method, options, interceptors)
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
    _ options: CallOptions?,
    _ interceptors: (InterceptorFactory) -> [ClientInterceptor<Requests.Message, Responses.Message>]
  ) -> ResponseStream<Responses.Message> {
    channel.bidirectionalStreaming(
      method,
      ImmediateSequence(requests),
      options: defaultCallOptions.overridden(by: options),
      interceptors: chain(method, options, interceptors)
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
    _ options: CallOptions?,
    _ interceptors: (InterceptorFactory) -> [ClientInterceptor<Requests.Message, Responses.Message>]
  ) -> ResponseStream<Responses.Message> where Messages.Element == Requests.Message {
    channel.bidirectionalStreaming(
      method,
      requests,
      options: defaultCallOptions.overridden(by: options),
      interceptors: chain(method, options, interceptors)
    )
  }
}
