/// Serves a method that streams requests and answers with one response.
public final class ClientStreamingHandler: MethodHandler {
  /// The method it serves.
  public let method: MethodDescriptor
  // A closure, so that what it does is compiled for the types of the method: a generic class's method
  // would not be.
  @usableFromInline let begin: @Sendable (any ServerStream) -> Void

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
    begin = { stream in
      if let chain = interceptors?(), !chain.isEmpty {
        let pipeline = ServerPipeline.make(stream, method, requests, responses, chain)
        return pipeline.onRequestStream { messages in
          stream.run {
            do {
              pipeline.respond(try await handler(messages, ServerCallContext(pipeline.handler)))
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

  public func start(_ stream: any ServerStream) { begin(stream) }

  public func start(_ stream: any ServerStream, message: RawSpan) { stream.finish(.wrongShape(method)) }
}

/// Serves a method that streams both ways.
public final class BidirectionalStreamingHandler: MethodHandler {
  /// The method it serves.
  public let method: MethodDescriptor
  @usableFromInline let begin: @Sendable (any ServerStream) -> Void

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
    begin = { stream in
      if let chain = interceptors?(), !chain.isEmpty {
        let pipeline = ServerPipeline.make(stream, method, requests, responses, chain)
        return pipeline.onRequestStream { messages in
          stream.run {
            do {
              let writer = ResponseStreamWriter(pipeline.makeWriter())
              try await handler(messages, writer, ServerCallContext(pipeline.handler))
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

  public func start(_ stream: any ServerStream) { begin(stream) }

  public func start(_ stream: any ServerStream, message: RawSpan) { stream.finish(.wrongShape(method)) }
}
