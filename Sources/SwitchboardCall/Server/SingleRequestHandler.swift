/// Serves a unary method.
public final class UnaryHandler: MethodHandler {
  /// The method it serves.
  public let method: MethodDescriptor
  // A closure, so that what it does is compiled for the types of the method: a generic class's method
  // would not be.
  @usableFromInline let begin: @Sendable (any ServerStream, RawSpan) -> Void

  /// Binds a provider's method to its descriptor, its marshallers and what makes the interceptors of one call,
  /// first inbound first.
  @inlinable
  public init<Requests: Marshaller, Responses: Marshaller>(
    _ method: MethodDescriptor,
    requests: Requests,
    responses: Responses,
    interceptors: (@Sendable () -> [ServerInterceptor<Requests.Message, Responses.Message>])? = nil,
    handler:
      nonisolated(nonsending) @escaping @Sendable (Requests.Message, ServerCallContext) async throws ->
      Responses.Message
  ) {
    self.method = method
    begin = { stream, message in
      if let chain = interceptors?(), !chain.isEmpty {
        let pipeline = ServerPipeline.make(stream, method, requests, responses, chain)
        pipeline.onRequest = { request in
          stream.run {
            do {
              pipeline.respond(try await handler(request, ServerCallContext(pipeline.handler)))
            } catch {
              pipeline.finish(GRPCStatus(describing: error))
            }
          }
        }
        return pipeline.receive(message: message)
      }
      let request: Requests.Message
      do {
        request = try requests.decode(message)
      } catch {
        return stream.finish(.marshalling(error, "decoded"))
      }
      stream.run {
        do {
          let response = try await handler(request, ServerCallContext(stream))
          stream.respond(try GRPCStatus.encoding { try responses.encode(response) })
        } catch {
          stream.finish(GRPCStatus(describing: error))
        }
      }
    }
  }

  public func start(_ stream: any ServerStream, message: RawSpan) { begin(stream, message) }

  public func start(_ stream: any ServerStream) { stream.finish(.wrongShape(method)) }
}

/// Serves a method that takes one request and streams responses.
public final class ServerStreamingHandler: MethodHandler {
  /// The method it serves.
  public let method: MethodDescriptor
  @usableFromInline let begin: @Sendable (any ServerStream, RawSpan) -> Void

  /// Binds a provider's method to its descriptor, its marshallers and what makes the interceptors of one call,
  /// first inbound first.
  @inlinable
  public init<Requests: Marshaller, Responses: Marshaller>(
    _ method: MethodDescriptor,
    requests: Requests,
    responses: Responses,
    interceptors: (@Sendable () -> [ServerInterceptor<Requests.Message, Responses.Message>])? = nil,
    handler:
      @escaping @Sendable (Requests.Message, ResponseStreamWriter<Responses.Message>, ServerCallContext)
      async throws -> Void
  ) {
    self.method = method
    begin = { stream, message in
      if let chain = interceptors?(), !chain.isEmpty {
        let pipeline = ServerPipeline.make(stream, method, requests, responses, chain)
        pipeline.onRequest = { request in
          stream.run {
            do {
              let writer = ResponseStreamWriter(pipeline.makeWriter())
              try await handler(request, writer, ServerCallContext(pipeline.handler))
              pipeline.finish(.ok)
            } catch {
              pipeline.finish(GRPCStatus(describing: error))
            }
          }
        }
        return pipeline.receive(message: message)
      }
      let request: Requests.Message
      do {
        request = try requests.decode(message)
      } catch {
        return stream.finish(.marshalling(error, "decoded"))
      }
      stream.run {
        do {
          let writer = ResponseStreamWriter(stream) { try responses.encode($0) }
          try await handler(request, writer, ServerCallContext(stream))
          stream.finish(.ok)
        } catch {
          stream.finish(GRPCStatus(describing: error))
        }
      }
    }
  }

  public func start(_ stream: any ServerStream, message: RawSpan) { begin(stream, message) }

  public func start(_ stream: any ServerStream) { stream.finish(.wrongShape(method)) }
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
