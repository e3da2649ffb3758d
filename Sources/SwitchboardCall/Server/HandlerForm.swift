/// How the handlers of one form of call take requests and answer.
///
/// A type for each form and not a closure, so that the code of a call is compiled into one piece down to the user's
/// handler.
@usableFromInline
protocol HandlerForm: Sendable {
  /// What the user's handler takes: the one request, or the stream of requests.
  associatedtype Input: Sendable
  associatedtype Request: Sendable
  associatedtype Response: Sendable

  /// Handles what a client sends, and answers in bytes that `responses` makes.
  nonisolated(nonsending) func handle(
    _ input: Input,
    _ answer: CallAnswer<Request, Response>,
    _ responses: some Marshaller<Response>
  ) async throws
}

@frozen
@usableFromInline
struct UnaryForm<Request: Sendable, Response: Sendable>: HandlerForm {
  @usableFromInline typealias Handler =
    nonisolated(nonsending) @Sendable (Request, ServerCallContext) async throws -> Response
  @usableFromInline let handler: Handler

  @inlinable
  init(_ handler: @escaping Handler) { self.handler = handler }

  @inlinable @inline(__always)
  nonisolated(nonsending) func handle(
    _ request: Request,
    _ answer: CallAnswer<Request, Response>,
    _ responses: some Marshaller<Response>
  ) async throws {
    try answer.respond(try await handler(request, answer.context), responses)
  }
}

@frozen
@usableFromInline
struct ServerStreamingForm<Request: Sendable, Response: Sendable>: HandlerForm {
  @usableFromInline typealias Handler =
    @Sendable (Request, ResponseStreamWriter<Response>, ServerCallContext) async throws -> Void
  @usableFromInline let handler: Handler

  @inlinable
  init(_ handler: @escaping Handler) { self.handler = handler }

  @inlinable @inline(__always)
  nonisolated(nonsending) func handle(
    _ request: Request,
    _ answer: CallAnswer<Request, Response>,
    _ responses: some Marshaller<Response>
  ) async throws {
    try await handler(request, answer.writer(responses), answer.context)
    answer.finish(.ok)
  }
}

@frozen
@usableFromInline
struct ClientStreamingForm<Request: Sendable, Response: Sendable>: HandlerForm {
  @usableFromInline typealias Handler =
    @Sendable (RequestStream<Request>, ServerCallContext) async throws -> Response
  @usableFromInline let handler: Handler

  @inlinable
  init(_ handler: @escaping Handler) { self.handler = handler }

  @inlinable @inline(__always)
  nonisolated(nonsending) func handle(
    _ requests: RequestStream<Request>,
    _ answer: CallAnswer<Request, Response>,
    _ responses: some Marshaller<Response>
  ) async throws {
    try answer.respond(try await handler(requests, answer.context), responses)
  }
}

@frozen
@usableFromInline
struct BidirectionalForm<Request: Sendable, Response: Sendable>: HandlerForm {
  @usableFromInline typealias Handler =
    @Sendable (RequestStream<Request>, ResponseStreamWriter<Response>, ServerCallContext) async throws -> Void
  @usableFromInline let handler: Handler

  @inlinable
  init(_ handler: @escaping Handler) { self.handler = handler }

  @inlinable @inline(__always)
  nonisolated(nonsending) func handle(
    _ requests: RequestStream<Request>,
    _ answer: CallAnswer<Request, Response>,
    _ responses: some Marshaller<Response>
  ) async throws {
    try await handler(requests, answer.writer(responses), answer.context)
    answer.finish(.ok)
  }
}
