// What a generated provider's `methodHandlers` is made of: for each method, how to make the interceptors of a
// call, and what to do with its requests.
extension Method {
  /// Serves a method with one request and one response.
  @inlinable
  public func unaryHandler<Factory: Sendable>(
    _ factory: Factory?,
    _ interceptors: @escaping @Sendable (Factory) -> [ServerInterceptor<Request, Response>],
    _ handler:
      nonisolated(nonsending) @escaping @Sendable (Request, ServerCallContext) async throws -> Response
  ) -> any MethodHandler {
    UnaryHandler(
      descriptor,
      requests: requests,
      responses: responses,
      interceptors: perCall(factory, interceptors),
      handler: handler
    )
  }

  /// Serves a method with one request and a stream of responses.
  @inlinable
  public func serverStreamingHandler<Factory: Sendable>(
    _ factory: Factory?,
    _ interceptors: @escaping @Sendable (Factory) -> [ServerInterceptor<Request, Response>],
    _ handler:
      @escaping @Sendable (Request, ResponseStreamWriter<Response>, ServerCallContext) async throws -> Void
  ) -> any MethodHandler {
    ServerStreamingHandler(
      descriptor,
      requests: requests,
      responses: responses,
      interceptors: perCall(factory, interceptors),
      handler: handler
    )
  }

  /// Serves a method with a stream of requests and one response.
  @inlinable
  public func clientStreamingHandler<Factory: Sendable>(
    _ factory: Factory?,
    _ interceptors: @escaping @Sendable (Factory) -> [ServerInterceptor<Request, Response>],
    _ handler: @escaping @Sendable (RequestStream<Request>, ServerCallContext) async throws -> Response
  ) -> any MethodHandler {
    ClientStreamingHandler(
      descriptor,
      requests: requests,
      responses: responses,
      interceptors: perCall(factory, interceptors),
      handler: handler
    )
  }

  /// Serves a method with streams both ways.
  @inlinable
  public func bidirectionalStreamingHandler<Factory: Sendable>(
    _ factory: Factory?,
    _ interceptors: @escaping @Sendable (Factory) -> [ServerInterceptor<Request, Response>],
    _ handler:
      @escaping @Sendable (
        RequestStream<Request>, ResponseStreamWriter<Response>, ServerCallContext
      ) async throws -> Void
  ) -> any MethodHandler {
    BidirectionalStreamingHandler(
      descriptor,
      requests: requests,
      responses: responses,
      interceptors: perCall(factory, interceptors),
      handler: handler
    )
  }
}

/// Makes the interceptors of one call; `nil` where there is no factory to ask.
@inlinable
func perCall<Factory: Sendable, Interceptor>(
  _ factory: Factory?,
  _ interceptors: @escaping @Sendable (Factory) -> [Interceptor]
) -> (@Sendable () -> [Interceptor])? {
  guard let factory else { return nil }
  return { interceptors(factory) }
}
