/// The responses that a test has enqueued for the calls of a test client: each call takes the next one of its method.
///
/// Generated test clients stand on one, and on a channel to it within the process. So what is between a client and the
/// network in production is there in the test as well: interceptors, marshallers, deadlines and cancellation.
public final class FakeResponses: Sendable {
  /// How the test sees the requests of a call.
  public typealias RequestHandler<M: Marshaller> = @Sendable (FakeRequestPart<M.Message>) -> Void

  private typealias Exchange<Requests: Marshaller, Responses: Marshaller> =
    FakeExchange<Requests.Message, Responses.Message>

  private let service: String
  /// By the method's path.
  private let exchanges = Locked<[String: [any Sendable]]>([:])

  /// No responses for any method of `service`.
  public init(_ service: ServiceDescriptor) { self.service = service.name }

  /// A channel whose calls are answered from here; `handlers` are those that this has made for the service's methods.
  public func channel(_ handlers: [MethodHandler]) throws(GRPCStatus) -> Channel {
    try Channel(inProcess: [FakeProvider(serviceName: service, methodHandlers: handlers)])
  }

  /// Whether there are responses that no call has taken yet.
  public func remain<Requests, Responses>(for method: Method<Requests, Responses>) -> Bool {
    exchanges.withLock { $0[method.descriptor.path]?.isEmpty == false }
  }

  // MARK: Enqueueing

  /// Enqueues a response that the test will send.
  public func make<Requests, Responses>(
    _ method: Method<Requests, Responses>,
    _ requestHandler: @escaping RequestHandler<Requests>
  ) -> FakeUnaryResponse<Requests.Message, Responses.Message> {
    FakeUnaryResponse(enqueue(method, FakeExchange(requestHandler)))
  }

  /// Enqueues a stream of responses that the test will send.
  public func makeStream<Requests, Responses>(
    _ method: Method<Requests, Responses>,
    _ requestHandler: @escaping RequestHandler<Requests>
  ) -> FakeStreamingResponse<Requests.Message, Responses.Message> {
    FakeStreamingResponse(enqueue(method, FakeExchange(requestHandler)))
  }

  /// Enqueues a whole response, of one message or a stream of them. It ends once the client has sent all its requests.
  public func enqueue<Requests, Responses>(
    _ method: Method<Requests, Responses>,
    _ responses: [Responses.Message],
    _ requestHandler: @escaping RequestHandler<Requests>
  ) {
    let exchange = Exchange<Requests, Responses>(isLast: true, requestHandler)
    // In an order that is allowed: none of these can fail.
    for response in responses { try? exchange.send(.message(response)) }
    try? exchange.send(.end(.ok, HPACKHeaders()))
    _ = enqueue(method, exchange)
  }

  private func enqueue<Requests, Responses>(
    _ method: Method<Requests, Responses>,
    _ exchange: Exchange<Requests, Responses>
  ) -> Exchange<Requests, Responses> {
    exchanges.withLock { $0[method.descriptor.path, default: []].append(exchange) }
    return exchange
  }

  // MARK: Serving

  /// Answers the calls of a method, of whatever type it is.
  public func handler<Requests, Responses>(_ method: Method<Requests, Responses>) -> MethodHandler {
    switch method.descriptor.type {
    case .unary:
      return method.unaryHandler { request, context in
        var response: Responses.Message?
        try await self.next(method).answer(request, context) { response = $0 }
        return try Self.found(response)
      }
    case .clientStreaming:
      return method.clientStreamingHandler { requests, context in
        var response: Responses.Message?
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

  private func next<Requests, Responses>(
    _ method: Method<Requests, Responses>
  ) throws -> Exchange<Requests, Responses> {
    let path = method.descriptor.path
    let next: (any Sendable)? = exchanges.withLock { exchanges in
      guard let queue = exchanges[path], let first = queue.first else { return nil }
      exchanges[path] = Array(queue.dropFirst())
      return first
    }
    guard let exchange = next as? Exchange<Requests, Responses> else {
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
