/// Serves a unary method.
public final class UnaryHandler<Requests: Marshaller, Responses: Marshaller>: MethodHandler {
  /// What a provider's method of this kind is.
  public typealias Handler = @Sendable (Requests.Message, ServerCallContext) async throws -> Responses.Message

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
  public func start(_ stream: any ServerStream, message: RawSpan) {
    let request: Requests.Message
    do {
      request = try requests.decode(message)
    } catch {
      return stream.finish(.marshalling(error, "decoded"))
    }
    stream.run { [handler, responses] in
      do {
        let response = try await handler(request, ServerCallContext(stream))
        stream.respond(try GRPCStatus.encoding { try responses.encode(response) })
      } catch {
        stream.finish(GRPCStatus(describing: error))
      }
    }
  }

  @inlinable
  public func start(_ stream: any ServerStream) {
    stream.finish(.wrongShape(method))
  }
}

/// Serves a method that takes one request and streams responses.
public final class ServerStreamingHandler<Requests: Marshaller, Responses: Marshaller>: MethodHandler {
  /// What a provider's method of this kind is.
  public typealias Handler =
    @Sendable (Requests.Message, ResponseStreamWriter<Responses.Message>, ServerCallContext) async throws ->
    Void

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
  public func start(_ stream: any ServerStream, message: RawSpan) {
    let request: Requests.Message
    do {
      request = try requests.decode(message)
    } catch {
      return stream.finish(.marshalling(error, "decoded"))
    }
    stream.run { [handler, responses] in
      let writer = ResponseStreamWriter(stream) { try responses.encode($0) }
      do {
        try await handler(request, writer, ServerCallContext(stream))
        stream.finish(.ok)
      } catch {
        stream.finish(GRPCStatus(describing: error))
      }
    }
  }

  @inlinable
  public func start(_ stream: any ServerStream) {
    stream.finish(.wrongShape(method))
  }
}

extension GRPCStatus {
  @usableFromInline
  static func wrongShape(_ method: MethodDescriptor) -> GRPCStatus {
    GRPCStatus(
      code: .internalError,
      message: "\(method.path) was started as another type of call than \(method.type)",
      origin: .library
    )
  }
}
