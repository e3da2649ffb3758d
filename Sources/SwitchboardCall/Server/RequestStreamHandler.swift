/// Serves a method that streams requests and answers with one response.
public final class ClientStreamingHandler<Requests: Marshaller, Responses: Marshaller>: MethodHandler {
  /// What a provider's method of this kind is.
  public typealias Handler =
    @Sendable (RequestStream<Requests.Message>, ServerCallContext) async throws -> Responses.Message

  /// The method it serves.
  public let method: MethodDescriptor
  @usableFromInline let requests: Requests
  @usableFromInline let responses: Responses
  @usableFromInline let handler: Handler

  /// Binds a provider's method to its descriptor and its marshallers.
  @inlinable
  public init(
    _ method: MethodDescriptor,
    requests: Requests,
    responses: Responses,
    handler: @escaping Handler
  ) {
    self.method = method
    self.requests = requests
    self.responses = responses
    self.handler = handler
  }

  @inlinable
  public func start(_ stream: any ServerStream) {
    let requests = RequestStream(stream.requests) { [requests] in try requests.decode($0) }
    stream.run { [handler, responses] in
      do {
        let response = try await handler(requests, ServerCallContext(stream))
        stream.respond(try GRPCStatus.encoding { try responses.encode(response) })
      } catch {
        stream.finish(GRPCStatus(describing: error))
      }
    }
  }

  @inlinable
  public func start(_ stream: any ServerStream, message: RawSpan) {
    stream.finish(.wrongShape(method))
  }
}

/// Serves a method that streams both ways.
public final class BidirectionalStreamingHandler<Requests: Marshaller, Responses: Marshaller>: MethodHandler {
  /// What a provider's method of this kind is.
  public typealias Handler =
    @Sendable (
      RequestStream<Requests.Message>, ResponseStreamWriter<Responses.Message>, ServerCallContext
    ) async throws -> Void

  /// The method it serves.
  public let method: MethodDescriptor
  @usableFromInline let requests: Requests
  @usableFromInline let responses: Responses
  @usableFromInline let handler: Handler

  /// Binds a provider's method to its descriptor and its marshallers.
  @inlinable
  public init(
    _ method: MethodDescriptor,
    requests: Requests,
    responses: Responses,
    handler: @escaping Handler
  ) {
    self.method = method
    self.requests = requests
    self.responses = responses
    self.handler = handler
  }

  @inlinable
  public func start(_ stream: any ServerStream) {
    let requests = RequestStream(stream.requests) { [requests] in try requests.decode($0) }
    stream.run { [handler, responses] in
      let writer = ResponseStreamWriter(stream) { try responses.encode($0) }
      do {
        try await handler(requests, writer, ServerCallContext(stream))
        stream.finish(.ok)
      } catch {
        stream.finish(GRPCStatus(describing: error))
      }
    }
  }

  @inlinable
  public func start(_ stream: any ServerStream, message: RawSpan) {
    stream.finish(.wrongShape(method))
  }
}
