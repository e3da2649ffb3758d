/// Serves a method that streams requests and answers with one response.
public final class ClientStreamingHandler: MethodHandler {
  /// The method it serves.
  public let method: MethodDescriptor
  @usableFromInline typealias Begin = @Sendable (any ServerStream) -> Void
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
      @escaping @Sendable (RequestStream<Requests.Message>, ServerCallContext) async throws ->
      Responses.Message
  ) {
    self.method = method
    formats = HandlerFormats(requests, responses) {
      ClientStreamingHandler.inFormat(method, $0, $1, interceptors, handler)
    }
    bind = { factories in
      let interceptors = factories.wrapping(interceptors, for: method)
      let ends = ServerEnds(method, requests, responses)
      return { stream in
        if let chain = interceptors?(), !chain.isEmpty {
          let pipeline = ServerPipeline(stream, chain, ends)
          return pipeline.onRequestStream { messages in
            stream.run {
              do {
                pipeline.respondHere(try await handler(messages, ServerCallContext(pipeline)))
              } catch {
                pipeline.finish(GRPCStatus(describing: error))
              }
              stream.handlerReturned()
            }
          }
        }
        let messages = RequestStream(stream.requests) { bytes in
          try GRPCStatus.decoding(for: stream) { try requests.decode(bytes) }
        }
        stream.run {
          do {
            let response = try await handler(messages, ServerCallContext(stream))
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

  private init(_ handler: ClientStreamingHandler, _ factories: [any InterceptorFactory]) {
    method = handler.method
    bind = handler.bind
    begin = bind(factories)
    formats = handler.formats
    self.factories = factories
  }

  public func intercepted(by factories: [any InterceptorFactory]) -> any MethodHandler {
    factories.isEmpty ? self : ClientStreamingHandler(self, factories)
  }

  public func start(_ stream: any ServerStream) { begin(stream) }

  public func start(_ stream: any ServerStream, message: RawSpan) { stream.finish(.wrongShape(method)) }

  public func reads(_ subtype: ContentSubtype) -> Bool { formats.reads(subtype) }

  // Not inlinable: formats that are chosen while the program runs need no copy of this in each user's module.
  @usableFromInline
  static func inFormat<Request: Sendable, Response: Sendable>(
    _ method: MethodDescriptor,
    _ requests: AnyMarshaller<Request>,
    _ responses: AnyMarshaller<Response>,
    _ interceptors: (@Sendable () -> [ServerInterceptor<Request, Response>])?,
    _ handler: @escaping @Sendable (RequestStream<Request>, ServerCallContext) async throws -> Response
  ) -> any MethodHandler {
    ClientStreamingHandler(
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

/// Serves a method that streams both ways.
public final class BidirectionalStreamingHandler: MethodHandler {
  /// The method it serves.
  public let method: MethodDescriptor
  @usableFromInline typealias Begin = @Sendable (any ServerStream) -> Void
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
      @escaping @Sendable (
        RequestStream<Requests.Message>, ResponseStreamWriter<Responses.Message>, ServerCallContext
      ) async throws -> Void
  ) {
    self.method = method
    formats = HandlerFormats(requests, responses) {
      BidirectionalStreamingHandler.inFormat(method, $0, $1, interceptors, handler)
    }
    bind = { factories in
      let interceptors = factories.wrapping(interceptors, for: method)
      let ends = ServerEnds(method, requests, responses)
      return { stream in
        if let chain = interceptors?(), !chain.isEmpty {
          let pipeline = ServerPipeline(stream, chain, ends)
          return pipeline.onRequestStream { messages in
            stream.run {
              do {
                let writer = ResponseStreamWriter(pipeline.makeWriter())
                try await handler(messages, writer, ServerCallContext(pipeline))
                pipeline.finish(.ok)
              } catch {
                pipeline.finish(GRPCStatus(describing: error))
              }
              stream.handlerReturned()
            }
          }
        }
        let messages = RequestStream(stream.requests) { bytes in
          try GRPCStatus.decoding(for: stream) { try requests.decode(bytes) }
        }
        stream.run {
          do {
            let writer = ResponseStreamWriter(stream) { response in
              try GRPCStatus.encoding(for: stream) { try responses.encode(response) }
            }
            try await handler(messages, writer, ServerCallContext(stream))
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

  private init(_ handler: BidirectionalStreamingHandler, _ factories: [any InterceptorFactory]) {
    method = handler.method
    bind = handler.bind
    begin = bind(factories)
    formats = handler.formats
    self.factories = factories
  }

  public func intercepted(by factories: [any InterceptorFactory]) -> any MethodHandler {
    factories.isEmpty ? self : BidirectionalStreamingHandler(self, factories)
  }

  public func start(_ stream: any ServerStream) { begin(stream) }

  public func start(_ stream: any ServerStream, message: RawSpan) { stream.finish(.wrongShape(method)) }

  public func reads(_ subtype: ContentSubtype) -> Bool { formats.reads(subtype) }

  // Not inlinable: formats that are chosen while the program runs need no copy of this in each user's module.
  @usableFromInline
  static func inFormat<Request: Sendable, Response: Sendable>(
    _ method: MethodDescriptor,
    _ requests: AnyMarshaller<Request>,
    _ responses: AnyMarshaller<Response>,
    _ interceptors: (@Sendable () -> [ServerInterceptor<Request, Response>])?,
    _ handler:
      @escaping @Sendable (
        RequestStream<Request>, ResponseStreamWriter<Response>, ServerCallContext
      ) async throws -> Void
  ) -> any MethodHandler {
    BidirectionalStreamingHandler(
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
