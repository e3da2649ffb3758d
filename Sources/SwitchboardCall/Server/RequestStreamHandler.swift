/// Serves a method that streams requests and answers with one response.
public final class ClientStreamingHandler: MethodHandler {
  /// The method it serves.
  public let method: MethodDescriptor
  @usableFromInline typealias Begin = @Sendable (any ServerStream) -> Void
  // Closures, so that what they do is compiled for the types of the method: a generic class's method would not be.
  @usableFromInline let begin: Begin
  @usableFromInline let bind: @Sendable ([any InterceptorFactory]) -> Begin

  /// Binds a provider's method to its descriptor, its marshallers and what makes the interceptors of one call,
  /// first inbound first.
  @inlinable
  public init<Requests: Marshaller, Responses: Marshaller>(
    _ method: MethodDescriptor,
    requests: Requests,
    responses: Responses,
    interceptors: (@Sendable () -> [ServerInterceptor<Requests.Message, Responses.Message>])? = nil,
    handler:
      @escaping @Sendable (RequestStream<Requests.Message>, ServerCallContext) async throws ->
      Responses.Message
  ) {
    self.method = method
    bind = { factories in
      let interceptors = factories.wrapping(interceptors, for: method)
      return { stream in
        if let chain = interceptors?(), !chain.isEmpty {
          let pipeline = ServerPipeline.make(stream, method, requests, responses, chain)
          return pipeline.onRequestStream { messages in
            stream.run {
              do {
                pipeline.respond(try await handler(messages, ServerCallContext(pipeline)))
              } catch {
                pipeline.finish(GRPCStatus(describing: error))
              }
            }
          }
        }
        let messages = RequestStream(stream.requests) { try requests.decode($0) }
        stream.run {
          do {
            let response = try await handler(messages, ServerCallContext(stream))
            stream.respond(try GRPCStatus.encoding { try responses.encode(response) })
          } catch {
            stream.finish(GRPCStatus(describing: error))
          }
        }
      }
    }
    begin = bind([])
  }

  private init(_ handler: ClientStreamingHandler, _ factories: [any InterceptorFactory]) {
    method = handler.method
    bind = handler.bind
    begin = bind(factories)
  }

  public func intercepted(by factories: [any InterceptorFactory]) -> any MethodHandler {
    factories.isEmpty ? self : ClientStreamingHandler(self, factories)
  }

  public func start(_ stream: any ServerStream) { begin(stream) }

  public func start(_ stream: any ServerStream, message: RawSpan) { stream.finish(.wrongShape(method)) }
}

/// Serves a method that streams both ways.
public final class BidirectionalStreamingHandler: MethodHandler {
  /// The method it serves.
  public let method: MethodDescriptor
  @usableFromInline typealias Begin = @Sendable (any ServerStream) -> Void
  // Closures, so that what they do is compiled for the types of the method: a generic class's method would not be.
  @usableFromInline let begin: Begin
  @usableFromInline let bind: @Sendable ([any InterceptorFactory]) -> Begin

  /// Binds a provider's method to its descriptor, its marshallers and what makes the interceptors of one call,
  /// first inbound first.
  @inlinable
  public init<Requests: Marshaller, Responses: Marshaller>(
    _ method: MethodDescriptor,
    requests: Requests,
    responses: Responses,
    interceptors: (@Sendable () -> [ServerInterceptor<Requests.Message, Responses.Message>])? = nil,
    handler:
      @escaping @Sendable (
        RequestStream<Requests.Message>, ResponseStreamWriter<Responses.Message>, ServerCallContext
      ) async throws -> Void
  ) {
    self.method = method
    bind = { factories in
      let interceptors = factories.wrapping(interceptors, for: method)
      return { stream in
        if let chain = interceptors?(), !chain.isEmpty {
          let pipeline = ServerPipeline.make(stream, method, requests, responses, chain)
          return pipeline.onRequestStream { messages in
            stream.run {
              do {
                let writer = ResponseStreamWriter(pipeline.makeWriter())
                try await handler(messages, writer, ServerCallContext(pipeline))
                pipeline.finish(.ok)
              } catch {
                pipeline.finish(GRPCStatus(describing: error))
              }
            }
          }
        }
        let messages = RequestStream(stream.requests) { try requests.decode($0) }
        stream.run {
          do {
            let writer = ResponseStreamWriter(stream) { try responses.encode($0) }
            try await handler(messages, writer, ServerCallContext(stream))
            stream.finish(.ok)
          } catch {
            stream.finish(GRPCStatus(describing: error))
          }
        }
      }
    }
    begin = bind([])
  }

  private init(_ handler: BidirectionalStreamingHandler, _ factories: [any InterceptorFactory]) {
    method = handler.method
    bind = handler.bind
    begin = bind(factories)
  }

  public func intercepted(by factories: [any InterceptorFactory]) -> any MethodHandler {
    factories.isEmpty ? self : BidirectionalStreamingHandler(self, factories)
  }

  public func start(_ stream: any ServerStream) { begin(stream) }

  public func start(_ stream: any ServerStream, message: RawSpan) { stream.finish(.wrongShape(method)) }
}
