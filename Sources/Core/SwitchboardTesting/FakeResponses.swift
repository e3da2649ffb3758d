import Switchboard
public import SwitchboardCall

/// The responses that a test enqueues for a test client: each call takes the next one of its method.
///
/// Generated test clients use it over an in-process channel, so that interceptors, marshallers, deadlines and
/// cancellation work as in production.
///
/// ```swift
/// let client = try Hello_GreeterTestClient()
/// client.enqueueGreetResponse(.with { $0.text = "Hello!" })
/// #expect(try await client.greet(Hello_GreetRequest()).text == "Hello!")
/// ```
public final class FakeResponses: Sendable {
  /// Shows a test the requests of a call.
  public typealias RequestHandler<M: Marshaller> = @Sendable (FakeRequestPart<M.Message>) -> Void

  private typealias Exchange<RequestMarshaller: Marshaller, ResponseMarshaller: Marshaller> =
    FakeExchange<RequestMarshaller.Message, ResponseMarshaller.Message>

  private let service: String
  /// By the method's path.
  private let exchanges = Locked<[String: [any Sendable]]>([:])

  /// No responses yet, for the methods of `service`.
  public init(_ service: ServiceDescriptor) { self.service = service.name }

  /// A channel whose calls take the enqueued responses. `handlers` are from `handler(_:)`, one for each method.
  public func channel(_ handlers: [MethodHandler]) throws(GRPCStatus) -> Channel {
    // It stands for a server, and is none that interceptors were registered for.
    var (server, client) = (ServerOptions(), ChannelOptions())
    (server.interceptorRegistry, client.interceptorRegistry) = (InterceptorRegistry(), InterceptorRegistry())
    let provider = FakeProvider(serviceName: service, methodHandlers: handlers)
    return try Channel(inProcess: [provider], options: server, channelOptions: client)
  }

  /// Whether there are responses that no call has taken yet.
  public func remain<RequestMarshaller, ResponseMarshaller>(
    for method: Method<RequestMarshaller, ResponseMarshaller>
  ) -> Bool {
    exchanges.withLock { $0[method.descriptor.path]?.isEmpty == false }
  }

  // MARK: Responses

  /// Enqueues a response that the test sends later.
  public func make<RequestMarshaller, ResponseMarshaller>(
    _ method: Method<RequestMarshaller, ResponseMarshaller>,
    _ requestHandler: @escaping RequestHandler<RequestMarshaller>
  ) -> FakeUnaryResponse<RequestMarshaller.Message, ResponseMarshaller.Message> {
    FakeUnaryResponse(enqueue(method, FakeExchange(requestHandler)))
  }

  /// Enqueues a stream of responses that the test sends later.
  public func makeStream<RequestMarshaller, ResponseMarshaller>(
    _ method: Method<RequestMarshaller, ResponseMarshaller>,
    _ requestHandler: @escaping RequestHandler<RequestMarshaller>
  ) -> FakeStreamingResponse<RequestMarshaller.Message, ResponseMarshaller.Message> {
    FakeStreamingResponse(enqueue(method, FakeExchange(requestHandler)))
  }

  /// Enqueues a complete response of any number of messages. It ends once the client has sent all its requests.
  public func enqueue<RequestMarshaller, ResponseMarshaller>(
    _ method: Method<RequestMarshaller, ResponseMarshaller>,
    _ responses: [ResponseMarshaller.Message],
    _ requestHandler: @escaping RequestHandler<RequestMarshaller>
  ) {
    let exchange = Exchange<RequestMarshaller, ResponseMarshaller>(isLast: true, requestHandler)
    // In a valid order: none of these fails.
    for response in responses { try? exchange.send(.message(response)) }
    try? exchange.send(.end(.ok, HPACKHeaders()))
    _ = enqueue(method, exchange)
  }

  /// Enqueues an error in place of a response: the call fails with it, without waiting for streamed requests.
  public func enqueue<RequestMarshaller, ResponseMarshaller>(
    _ method: Method<RequestMarshaller, ResponseMarshaller>,
    error: any Error,
    trailingMetadata: HPACKHeaders,
    _ requestHandler: @escaping RequestHandler<RequestMarshaller>
  ) {
    let exchange = Exchange<RequestMarshaller, ResponseMarshaller>(requestHandler)
    // The first event of the exchange: it does not fail.
    try? exchange.send(error: error, trailers: trailingMetadata)
    _ = enqueue(method, exchange)
  }

  private func enqueue<RequestMarshaller, ResponseMarshaller>(
    _ method: Method<RequestMarshaller, ResponseMarshaller>,
    _ exchange: Exchange<RequestMarshaller, ResponseMarshaller>
  ) -> Exchange<RequestMarshaller, ResponseMarshaller> {
    exchanges.withLock { $0[method.descriptor.path, default: []].append(exchange) }
    return exchange
  }

  // MARK: Serving

  /// Answers the calls of a method of any type.
  public func handler<RequestMarshaller, ResponseMarshaller>(
    _ method: Method<RequestMarshaller, ResponseMarshaller>
  ) -> MethodHandler {
    switch method.descriptor.type {
    case .unary:
      return method.unaryHandler { request, context in
        var response: ResponseMarshaller.Message?
        try await self.next(method).answer(request, context) { response = $0 }
        return try Self.found(response)
      }
    case .clientStreaming:
      return method.clientStreamingHandler { requests, context in
        var response: ResponseMarshaller.Message?
        try await self.next(method).answer(requests, context) { response = $0 }
        return try Self.found(response)
      }
    case .serverStreaming:
      return method.serverStreamingHandler { request, responses, context in
        try await self.next(method).answer(request, context) { try await responses.send($0) }
      }
    case .bidirectionalStreaming:
      return method.bidirectionalStreamingHandler { requests, responses, context in
        try await self.next(method).answer(requests, context) { try await responses.send($0) }
      }
    }
  }

  private func next<RequestMarshaller, ResponseMarshaller>(
    _ method: Method<RequestMarshaller, ResponseMarshaller>
  ) throws -> Exchange<RequestMarshaller, ResponseMarshaller> {
    let path = method.descriptor.path
    let next: (any Sendable)? = exchanges.withLock { exchanges in
      guard let queue = exchanges[path], let first = queue.first else { return nil }
      exchanges[path] = Array(queue.dropFirst())
      return first
    }
    guard let exchange = next as? Exchange<RequestMarshaller, ResponseMarshaller> else {
      throw GRPCStatus(code: .unavailable, message: "no response is enqueued for \(path)")
    }
    return exchange
  }

  private static func found<Response>(_ response: Response?) throws -> Response {
    guard let response else { throw GRPCStatus(code: .internalError, message: "no message was sent") }
    return response
  }
}

private struct FakeProvider: CallHandlerProvider {
  let serviceName: String
  let methodHandlers: [MethodHandler]
}
