/// The responses that a test has enqueued for the calls of a test client: each call takes the next one of its method.
///
/// Generated test clients stand on one, and on a channel to it within the process. So what is between a client and the
/// network in production is there in the test as well: interceptors, marshallers, deadlines and cancellation.
public final class FakeResponses: Sendable {
  private let service: String
  /// By the method's path: each has one kind of response.
  private let queues = Locked<[String: [any Sendable]]>([:])

  /// No responses for any method of `service`.
  public init(_ service: ServiceDescriptor) { self.service = service.name }

  /// A channel whose calls are answered from here; `handlers` are those that this has made for the service's methods.
  public func channel(_ handlers: [MethodHandler]) throws(GRPCStatus) -> Channel {
    try Channel(inProcess: [FakeProvider(serviceName: service, methodHandlers: handlers)])
  }

  /// Whether there are responses that no call has taken yet.
  public func remain<RequestMarshaller: Marshaller, ResponseMarshaller: Marshaller>(
    for method: Method<RequestMarshaller, ResponseMarshaller>
  ) -> Bool {
    queues.withLock { $0[method.descriptor.path]?.isEmpty == false }
  }

  // MARK: Enqueueing

  /// Enqueues a response that the test will send.
  public func make<RequestMarshaller: Marshaller, ResponseMarshaller: Marshaller>(
    _ method: Method<RequestMarshaller, ResponseMarshaller>,
    _ requestHandler: @escaping @Sendable (FakeRequestPart<RequestMarshaller.Message>) -> Void
  ) -> FakeUnaryResponse<RequestMarshaller.Message, ResponseMarshaller.Message> {
    enqueue(FakeUnaryResponse(requestHandler), for: method.descriptor)
  }

  /// Enqueues a stream of responses that the test will send.
  public func makeStream<RequestMarshaller: Marshaller, ResponseMarshaller: Marshaller>(
    _ method: Method<RequestMarshaller, ResponseMarshaller>,
    _ requestHandler: @escaping @Sendable (FakeRequestPart<RequestMarshaller.Message>) -> Void
  ) -> FakeStreamingResponse<RequestMarshaller.Message, ResponseMarshaller.Message> {
    enqueue(FakeStreamingResponse(requestHandler), for: method.descriptor)
  }

  /// Enqueues a response as a whole. It is sent once the client has sent all its requests.
  public func enqueue<RequestMarshaller: Marshaller, ResponseMarshaller: Marshaller>(
    _ method: Method<RequestMarshaller, ResponseMarshaller>,
    _ response: ResponseMarshaller.Message,
    _ requestHandler: @escaping @Sendable (FakeRequestPart<RequestMarshaller.Message>) -> Void
  ) {
    let fake = FakeUnaryResponse<RequestMarshaller.Message, ResponseMarshaller.Message>(
      isLast: true,
      requestHandler
    )
    // Nobody else has it yet, so nothing has been sent that this could not follow.
    try? fake.sendMessage(response)
    _ = enqueue(fake, for: method.descriptor)
  }

  /// Enqueues a stream of responses as a whole. It ends once the client has sent all its requests.
  public func enqueueStream<RequestMarshaller: Marshaller, ResponseMarshaller: Marshaller>(
    _ method: Method<RequestMarshaller, ResponseMarshaller>,
    _ responses: [ResponseMarshaller.Message],
    _ requestHandler: @escaping @Sendable (FakeRequestPart<RequestMarshaller.Message>) -> Void
  ) {
    let fake = FakeStreamingResponse<RequestMarshaller.Message, ResponseMarshaller.Message>(
      isLast: true,
      requestHandler
    )
    for response in responses { try? fake.sendMessage(response) }
    try? fake.sendEnd()
    _ = enqueue(fake, for: method.descriptor)
  }

  private func enqueue<Fake: Sendable>(_ fake: Fake, for method: MethodDescriptor) -> Fake {
    queues.withLock { $0[method.path, default: []].append(fake) }
    return fake
  }

  /// Takes the next response of a method.
  private func next<Fake: Sendable>(_ method: MethodDescriptor, as type: Fake.Type) throws -> Fake {
    let next: (any Sendable)? = queues.withLock { queues in
      queues[method.path].flatMap { $0.isEmpty ? nil : $0 }.map { queue in
        queues[method.path] = Array(queue.dropFirst())
        return queue[0]
      }
    }
    guard let fake = next as? Fake else {
      throw GRPCStatus(code: .unavailable, message: "no response is enqueued for \(method.path)")
    }
    return fake
  }
}

// MARK: Serving

extension FakeResponses {
  /// Answers calls with one request and one response.
  public func unary<RequestMarshaller: Marshaller, ResponseMarshaller: Marshaller>(
    _ method: Method<RequestMarshaller, ResponseMarshaller>
  ) -> MethodHandler {
    method.unaryHandler { request, context in
      let fake = try self.next(
        method.descriptor,
        as: FakeUnaryResponse<RequestMarshaller.Message, ResponseMarshaller.Message>.self
      )
      return try await fake.serve(request, context)
    }
  }

  /// Answers calls with a stream of requests and one response.
  public func clientStreaming<RequestMarshaller: Marshaller, ResponseMarshaller: Marshaller>(
    _ method: Method<RequestMarshaller, ResponseMarshaller>
  ) -> MethodHandler {
    method.clientStreamingHandler { requests, context in
      let fake = try self.next(
        method.descriptor,
        as: FakeUnaryResponse<RequestMarshaller.Message, ResponseMarshaller.Message>.self
      )
      return try await fake.serve(requests, context)
    }
  }

  /// Answers calls with one request and a stream of responses.
  public func serverStreaming<RequestMarshaller: Marshaller, ResponseMarshaller: Marshaller>(
    _ method: Method<RequestMarshaller, ResponseMarshaller>
  ) -> MethodHandler {
    method.serverStreamingHandler { request, writer, context in
      let fake = try self.next(
        method.descriptor,
        as: FakeStreamingResponse<RequestMarshaller.Message, ResponseMarshaller.Message>.self
      )
      try await fake.serve(request, writer, context)
    }
  }

  /// Answers calls with streams both ways.
  public func bidirectionalStreaming<RequestMarshaller: Marshaller, ResponseMarshaller: Marshaller>(
    _ method: Method<RequestMarshaller, ResponseMarshaller>
  ) -> MethodHandler {
    method.bidirectionalStreamingHandler { requests, writer, context in
      let fake = try self.next(
        method.descriptor,
        as: FakeStreamingResponse<RequestMarshaller.Message, ResponseMarshaller.Message>.self
      )
      try await fake.serve(requests, writer, context)
    }
  }
}

private struct FakeProvider: CallHandlerProvider {
  let serviceName: String
  let methodHandlers: [MethodHandler]
}
