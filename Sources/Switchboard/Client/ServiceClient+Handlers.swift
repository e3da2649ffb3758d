// Calls whose responses go to a handler. They start when they are told to.
extension ServiceClient {
  /// A call with one request.
  @inlinable
  public func handledCall<Requests: Marshaller, Responses: Marshaller>(
    _ method: Method<Requests, Responses>,
    _ request: Requests.Message,
    _ handler: any ResponseHandler<Responses.Message>,
    _ options: CallOptions?,
    _ interceptors: (InterceptorFactory) -> [ClientInterceptor<Requests.Message, Responses.Message>]
  ) -> UnaryCall<Requests.Message, Responses.Message> {
    UnaryCall(
      method,
      request,
      responseHandler: handler,
      callOptions: defaultCallOptions.overridden(by: options),
      channel: channel,
      interceptors: chain(method, options, interceptors)
    )
  }

  /// A call with a stream of requests.
  @inlinable
  public func handledCall<Requests: Marshaller, Responses: Marshaller>(
    _ method: Method<Requests, Responses>,
    _ handler: any ResponseHandler<Responses.Message>,
    _ options: CallOptions?,
    _ interceptors: (InterceptorFactory) -> [ClientInterceptor<Requests.Message, Responses.Message>]
  ) -> StreamingCall<Requests.Message, Responses.Message> {
    StreamingCall(
      method,
      responseHandler: handler,
      callOptions: defaultCallOptions.overridden(by: options),
      channel: channel,
      interceptors: chain(method, options, interceptors)
    )
  }
}
