/// Serves a unary method.
public final class UnaryHandler: MethodHandler {
  /// The method it serves.
  public let method: MethodDescriptor
  @usableFromInline typealias Begin = @Sendable (any ServerStream, RawSpan) -> Void
  // Closures, so that what they do is compiled for the types of the method: a generic class's method would not be.
  @usableFromInline let begin: Begin
  @usableFromInline let bind: @Sendable ([any InterceptorFactory]) -> Begin
  @usableFromInline let factories: [any InterceptorFactory]
  @usableFromInline let formats: HandlerFormats

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
    formats = HandlerFormats(requests, responses) {
      UnaryHandler.inFormat(method, $0, $1, interceptors, handler)
    }
    bind = { factories in
      let interceptors = factories.wrapping(interceptors, for: method)
      let ends = ServerEnds(method, requests, responses) { pipeline, request in
        {
          do {
            pipeline.respondHere(try await handler(request, ServerCallContext(pipeline)))
          } catch {
            pipeline.finish(GRPCStatus(describing: error))
          }
          pipeline.stream.handlerReturned()
        }
      }
      return { stream, message in
        if let chain = interceptors?(), !chain.isEmpty {
          return ServerPipeline(stream, chain, ends).receive(message: message)
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
          stream.handlerReturned()
        }
      }
    }
    begin = bind([])
    factories = []
  }

  private init(_ handler: UnaryHandler, _ factories: [any InterceptorFactory]) {
    method = handler.method
    bind = handler.bind
    begin = bind(factories)
    formats = handler.formats
    self.factories = factories
  }

  public func intercepted(by factories: [any InterceptorFactory]) -> any MethodHandler {
    factories.isEmpty ? self : UnaryHandler(self, factories)
  }

  public func start(_ stream: any ServerStream, message: RawSpan) { begin(stream, message) }

  public func start(_ stream: any ServerStream) { stream.finish(.wrongShape(method)) }

  public func reads(_ subtype: ContentSubtype) -> Bool { formats.reads(subtype) }

  // Not inlinable: formats that are chosen while the program runs need no copy of this in each user's module.
  @usableFromInline
  static func inFormat<Request: Sendable, Response: Sendable>(
    _ method: MethodDescriptor,
    _ requests: AnyMarshaller<Request>,
    _ responses: AnyMarshaller<Response>,
    _ interceptors: (@Sendable () -> [ServerInterceptor<Request, Response>])?,
    _ handler: @escaping @Sendable (Request, ServerCallContext) async throws -> Response
  ) -> any MethodHandler {
    UnaryHandler(
      method,
      requests: requests,
      responses: responses,
      interceptors: interceptors,
      handler: handler
    )
  }

  public func inFormat(_ format: any PayloadFormat) -> (any MethodHandler)? {
    formats.handler(in: format)?.intercepted(by: factories)
  }
}

/// Serves a method that takes one request and streams responses.
public final class ServerStreamingHandler: MethodHandler {
  /// The method it serves.
  public let method: MethodDescriptor
  @usableFromInline typealias Begin = @Sendable (any ServerStream, RawSpan) -> Void
  // Closures, so that what they do is compiled for the types of the method: a generic class's method would not be.
  @usableFromInline let begin: Begin
  @usableFromInline let bind: @Sendable ([any InterceptorFactory]) -> Begin
  @usableFromInline let factories: [any InterceptorFactory]
  @usableFromInline let formats: HandlerFormats

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
    formats = HandlerFormats(requests, responses) {
      ServerStreamingHandler.inFormat(method, $0, $1, interceptors, handler)
    }
    bind = { factories in
      let interceptors = factories.wrapping(interceptors, for: method)
      let ends = ServerEnds(method, requests, responses) { pipeline, request in
        {
          do {
            let writer = ResponseStreamWriter(pipeline.makeWriter())
            try await handler(request, writer, ServerCallContext(pipeline))
            pipeline.finish(.ok)
          } catch {
            pipeline.finish(GRPCStatus(describing: error))
          }
          pipeline.stream.handlerReturned()
        }
      }
      return { stream, message in
        if let chain = interceptors?(), !chain.isEmpty {
          return ServerPipeline(stream, chain, ends).receive(message: message)
        }
        let request: Requests.Message
        do {
          request = try requests.decode(message)
        } catch {
          return stream.finish(.marshalling(error, "decoded"))
        }
        stream.run {
          do {
            let writer = ResponseStreamWriter(stream) { response in
              try GRPCStatus.encoding(for: stream) { try responses.encode(response) }
            }
            try await handler(request, writer, ServerCallContext(stream))
            stream.finish(.ok)
          } catch {
            stream.finish(GRPCStatus(describing: error))
          }
          stream.handlerReturned()
        }
      }
    }
    begin = bind([])
    factories = []
  }

  private init(_ handler: ServerStreamingHandler, _ factories: [any InterceptorFactory]) {
    method = handler.method
    bind = handler.bind
    begin = bind(factories)
    formats = handler.formats
    self.factories = factories
  }

  public func intercepted(by factories: [any InterceptorFactory]) -> any MethodHandler {
    factories.isEmpty ? self : ServerStreamingHandler(self, factories)
  }

  public func start(_ stream: any ServerStream, message: RawSpan) { begin(stream, message) }

  public func start(_ stream: any ServerStream) { stream.finish(.wrongShape(method)) }

  public func reads(_ subtype: ContentSubtype) -> Bool { formats.reads(subtype) }

  // Not inlinable: formats that are chosen while the program runs need no copy of this in each user's module.
  @usableFromInline
  static func inFormat<Request: Sendable, Response: Sendable>(
    _ method: MethodDescriptor,
    _ requests: AnyMarshaller<Request>,
    _ responses: AnyMarshaller<Response>,
    _ interceptors: (@Sendable () -> [ServerInterceptor<Request, Response>])?,
    _ handler:
      @escaping @Sendable (Request, ResponseStreamWriter<Response>, ServerCallContext) async throws -> Void
  ) -> any MethodHandler {
    ServerStreamingHandler(
      method,
      requests: requests,
      responses: responses,
      interceptors: interceptors,
      handler: handler
    )
  }

  public func inFormat(_ format: any PayloadFormat) -> (any MethodHandler)? {
    formats.handler(in: format)?.intercepted(by: factories)
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
