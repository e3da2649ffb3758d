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

/// Answers with one response what `Input` is: one request or a stream of them.
@frozen
@usableFromInline
struct SingleResponseForm<Input: Sendable, Request: Sendable, Response: Sendable>: HandlerForm {
  @usableFromInline typealias Handler =
    nonisolated(nonsending) @Sendable (Input, ServerCallContext) async throws -> Response
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

/// Answers with a stream of responses what `Input` is: one request or a stream of them.
@frozen
@usableFromInline
struct ResponseStreamForm<Input: Sendable, Request: Sendable, Response: Sendable>: HandlerForm {
  @usableFromInline typealias Handler =
    @Sendable (Input, ResponseStreamWriter<Response>, ServerCallContext) async throws -> Void
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
