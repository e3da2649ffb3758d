/// A service that is put together in Swift, method by method: what a generated provider is for a service of a
/// `.proto` file.
///
/// ```swift
/// var handlers = ServiceHandlers(Stock.service)
/// handlers.unary(Stock.find) { query, context in Item(name: query.name, count: 3) }
/// let server = try Server(providers: [handlers])
/// ```
public struct ServiceHandlers: CallHandlerProvider {
  /// What is known of the service before any call.
  public let service: ServiceDescriptor
  public private(set) var methodHandlers: [MethodHandler] = []
  /// What its methods are served in, beside the formats of their own.
  public var payloadFormats: [any PayloadFormat]

  /// A service that has no methods yet: those that nobody adds are answered with `UNIMPLEMENTED`.
  public init(_ service: ServiceDescriptor, payloadFormats: [any PayloadFormat] = []) {
    self.service = service
    self.payloadFormats = payloadFormats
  }

  public var serviceName: String { service.name }

  public func payloadFormats(for method: MethodDescriptor) -> [any PayloadFormat] { payloadFormats }

  /// Adds a method that was bound before, in whatever way.
  public mutating func add(_ handler: MethodHandler) { methodHandlers.append(handler) }
}

extension ServiceHandlers {
  /// Serves a method with one request and one response; `interceptors` makes those of one call.
  @inlinable
  public mutating func unary<RequestMarshaller: Marshaller, ResponseMarshaller: Marshaller>(
    _ method: Method<RequestMarshaller, ResponseMarshaller>,
    interceptors: (
      @Sendable () -> [ServerInterceptor<RequestMarshaller.Message, ResponseMarshaller.Message>]
    )? = nil,
    _ handler:
      @escaping @Sendable (RequestMarshaller.Message, ServerCallContext) async throws ->
      ResponseMarshaller.Message
  ) {
    add(method.unaryHandler(interceptors: interceptors, handler))
  }

  /// Serves a method with one request and a stream of responses; `interceptors` makes those of one call.
  @inlinable
  public mutating func serverStreaming<RequestMarshaller: Marshaller, ResponseMarshaller: Marshaller>(
    _ method: Method<RequestMarshaller, ResponseMarshaller>,
    interceptors: (
      @Sendable () -> [ServerInterceptor<RequestMarshaller.Message, ResponseMarshaller.Message>]
    )? = nil,
    _ handler:
      @escaping @Sendable (
        RequestMarshaller.Message, ResponseStreamWriter<ResponseMarshaller.Message>, ServerCallContext
      )
      async throws -> Void
  ) {
    add(method.serverStreamingHandler(interceptors: interceptors, handler))
  }

  /// Serves a method with a stream of requests and one response; `interceptors` makes those of one call.
  @inlinable
  public mutating func clientStreaming<RequestMarshaller: Marshaller, ResponseMarshaller: Marshaller>(
    _ method: Method<RequestMarshaller, ResponseMarshaller>,
    interceptors: (
      @Sendable () -> [ServerInterceptor<RequestMarshaller.Message, ResponseMarshaller.Message>]
    )? = nil,
    _ handler:
      @escaping @Sendable (RequestStream<RequestMarshaller.Message>, ServerCallContext) async throws ->
      ResponseMarshaller.Message
  ) {
    add(method.clientStreamingHandler(interceptors: interceptors, handler))
  }

  /// Serves a method with streams both ways; `interceptors` makes those of one call.
  @inlinable
  public mutating func bidirectionalStreaming<RequestMarshaller: Marshaller, ResponseMarshaller: Marshaller>(
    _ method: Method<RequestMarshaller, ResponseMarshaller>,
    interceptors: (
      @Sendable () -> [ServerInterceptor<RequestMarshaller.Message, ResponseMarshaller.Message>]
    )? = nil,
    _ handler:
      @escaping @Sendable (
        RequestStream<RequestMarshaller.Message>, ResponseStreamWriter<ResponseMarshaller.Message>,
        ServerCallContext
      ) async throws -> Void
  ) {
    add(method.bidirectionalStreamingHandler(interceptors: interceptors, handler))
  }
}
