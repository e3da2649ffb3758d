/// How a handler answers: with one response or with a stream.
///
/// Each form is a type rather than a closure, so that the compiler specializes a call down to the user's handler.
@usableFromInline
protocol HandlerForm: Sendable {
  /// The input of the user's handler: the one request, or the stream of requests.
  associatedtype Input: Sendable
  associatedtype Request: Sendable
  associatedtype Response: Sendable
  /// Whether the answer is a stream.
  static var streamsResponses: Bool { get }

  /// Runs the user's handler. `responses` encodes its answer.
  nonisolated(nonsending) func handle(
    _ input: Input,
    _ answer: CallAnswer<Request, Response>,
    _ responses: some Marshaller<Response>
  ) async throws
}

/// The form of handlers that return one response.
@frozen
@usableFromInline
struct OneResponseForm<Input: Sendable, Request: Sendable, Response: Sendable>: HandlerForm {
  @usableFromInline typealias Handler =
    nonisolated(nonsending) @Sendable (Input, ServerCallContext) async throws -> Response
  @inlinable static var streamsResponses: Bool { false }
  @usableFromInline let handler: Handler

  @inlinable
  init(_ handler: @escaping Handler) { self.handler = handler }

  @inlinable @inline(__always)
  nonisolated(nonsending) func handle(
    _ input: Input,
    _ answer: CallAnswer<Request, Response>,
    _ responses: some Marshaller<Response>
  ) async throws {
    try answer.respond(try await handler(input, answer.context), responses)
  }
}

/// The form of handlers that write a stream of responses.
@frozen
@usableFromInline
struct ResponseStreamForm<Input: Sendable, Request: Sendable, Response: Sendable>: HandlerForm {
  @usableFromInline typealias Handler =
    nonisolated(nonsending) @Sendable (Input, ResponseStreamWriter<Response>, ServerCallContext) async throws
    -> Void
  @inlinable static var streamsResponses: Bool { true }
  @usableFromInline let handler: Handler

  @inlinable
  init(_ handler: @escaping Handler) { self.handler = handler }

  @inlinable @inline(__always)
  nonisolated(nonsending) func handle(
    _ input: Input,
    _ answer: CallAnswer<Request, Response>,
    _ responses: some Marshaller<Response>
  ) async throws {
    try await handler(input, answer.writer(responses), answer.context)
    answer.finish(.ok)
  }
}
