// The four forms of a handler. `interceptors` creates those of one call, in the order in which requests pass them.
extension Method {
  /// Creates a handler for a method with one request and one response.
  @inlinable
  public func unaryHandler(
    interceptors: (@Sendable () -> [ServerInterceptor<Request, Response>])? = nil,
    _ handler:
      nonisolated(nonsending) @escaping @Sendable (Request, ServerCallContext) async throws -> Response
  ) -> MethodHandler {
    MethodHandler(one: self, interceptors, OneResponseForm(handler))
  }

  /// Creates a handler for a method with one request and a stream of responses.
  @inlinable
  public func serverStreamingHandler(
    interceptors: (@Sendable () -> [ServerInterceptor<Request, Response>])? = nil,
    _ handler:
      nonisolated(nonsending) @escaping @Sendable (
        Request, ResponseStreamWriter<Response>, ServerCallContext
      ) async throws -> Void
  ) -> MethodHandler {
    MethodHandler(one: self, interceptors, ResponseStreamForm(handler))
  }

  /// Creates a handler for a method with a stream of requests and one response.
  @inlinable
  public func clientStreamingHandler(
    interceptors: (@Sendable () -> [ServerInterceptor<Request, Response>])? = nil,
    _ handler:
      nonisolated(nonsending) @escaping @Sendable (RequestStream<Request>, ServerCallContext) async throws ->
      Response
  ) -> MethodHandler {
    MethodHandler(stream: self, interceptors, OneResponseForm(handler))
  }

  /// Creates a handler for a method with streams in both directions.
  @inlinable
  public func bidirectionalStreamingHandler(
    interceptors: (@Sendable () -> [ServerInterceptor<Request, Response>])? = nil,
    _ handler:
      nonisolated(nonsending) @escaping @Sendable (
        RequestStream<Request>, ResponseStreamWriter<Response>, ServerCallContext
      ) async throws -> Void
  ) -> MethodHandler {
    MethodHandler(stream: self, interceptors, ResponseStreamForm(handler))
  }
}
