// Calls as objects: started at once, with their metadata, trailers and status.
extension ServiceClient {
  /// Starts a call with one request and one response.
  @inlinable
  public func unaryCall<Requests: Marshaller, Responses: Marshaller>(
    _ method: Method<Requests, Responses>,
    _ request: Requests.Message,
    _ options: CallOptions?,
    _ interceptors: (InterceptorFactory) -> [ClientInterceptor<Requests.Message, Responses.Message>]
  ) -> AsyncUnaryCall<Responses.Message> {
    channel.makeUnaryCall(
      method,
      request,
      options: defaultCallOptions.overridden(by: options),
      interceptors: chain(method, options, interceptors)
    )
  }

  /// Starts a call with one request and a stream of responses.
  @inlinable
  public func serverStreamingCall<Requests: Marshaller, Responses: Marshaller>(
    _ method: Method<Requests, Responses>,
    _ request: Requests.Message,
    _ options: CallOptions?,
    _ interceptors: (InterceptorFactory) -> [ClientInterceptor<Requests.Message, Responses.Message>]
  ) -> AsyncServerStreamingCall<Responses.Message> {
    channel.makeServerStreamingCall(
      method,
      request,
      options: defaultCallOptions.overridden(by: options),
      interceptors: chain(method, options, interceptors)
    )
  }

  /// Starts a call with a stream of requests and one response.
  @inlinable
  public func clientStreamingCall<Requests: Marshaller, Responses: Marshaller>(
    _ method: Method<Requests, Responses>,
    _ options: CallOptions?,
    _ interceptors: (InterceptorFactory) -> [ClientInterceptor<Requests.Message, Responses.Message>]
  ) -> AsyncClientStreamingCall<Requests.Message, Responses.Message> {
    channel.makeClientStreamingCall(
      method,
      options: defaultCallOptions.overridden(by: options),
      interceptors: chain(method, options, interceptors)
    )
  }

  /// Starts a call with streams both ways.
  @inlinable
  public func bidirectionalStreamingCall<Requests: Marshaller, Responses: Marshaller>(
    _ method: Method<Requests, Responses>,
    _ options: CallOptions?,
    _ interceptors: (InterceptorFactory) -> [ClientInterceptor<Requests.Message, Responses.Message>]
  ) -> AsyncBidirectionalStreamingCall<Requests.Message, Responses.Message> {
    channel.makeBidirectionalStreamingCall(
      method,
      options: defaultCallOptions.overridden(by: options),
      interceptors: chain(method, options, interceptors)
    )
  }
}
