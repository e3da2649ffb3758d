public import SwitchboardCall

/// Answers calls in place of a server: for tests of code that makes calls.
///
///     let answers = CannedAnswers()
///     answers.answer(Echo_EchoMetadata.Methods.get) { request in .with { $0.text = request.message.text } }
///     let options = CallOptions.with { $0.interceptorFactories = [answers] }
///
/// Nothing that it answers reaches the network.
public final class CannedAnswers: InterceptorFactory {
  private typealias Unary<Request: Sendable, Response: Sendable> =
    @Sendable (UnaryRequest<Request>) async throws -> UnaryResponse<Response>
  private typealias Streamed<Request: Sendable, Response: Sendable> =
    @Sendable (StreamedRequest<Request>) async throws -> StreamedResponse<Response>

  private struct State: Sendable {
    var unary: [String: any Sendable] = [:]
    var streamed: [String: any Sendable] = [:]
    var asked: [String: Int] = [:]
  }

  private let state = Locked(State())
  private let passesOthers: Bool

  /// Fails calls of methods that it has no answer for with `UNIMPLEMENTED`, unless they are to be passed on.
  public init(passingOthers: Bool = false) {
    passesOthers = passingOthers
  }

  /// Answers a unary method with what the closure returns, or fails it with what the closure throws.
  public func answer<RequestMarshaller: Marshaller, ResponseMarshaller: Marshaller>(
    _ method: Method<RequestMarshaller, ResponseMarshaller>,
    _ answer:
      @escaping @Sendable (UnaryRequest<RequestMarshaller.Message>) async throws -> ResponseMarshaller.Message
  ) {
    let unary: Unary<RequestMarshaller.Message, ResponseMarshaller.Message> = {
      UnaryResponse(message: try await answer($0))
    }
    state.withLock { $0.unary[method.descriptor.path] = unary }
  }

  /// Answers a method that streams with the messages that the closure returns, or fails it with what it throws.
  public func answerStream<RequestMarshaller: Marshaller, ResponseMarshaller: Marshaller>(
    _ method: Method<RequestMarshaller, ResponseMarshaller>,
    _ answer:
      @escaping @Sendable (StreamedRequest<RequestMarshaller.Message>) async throws -> [ResponseMarshaller
      .Message]
  ) {
    let streamed: Streamed<RequestMarshaller.Message, ResponseMarshaller.Message> = {
      StreamedResponse(messages: MessageStream(of: try await answer($0)))
    }
    state.withLock { $0.streamed[method.descriptor.path] = streamed }
  }

  /// How many calls of a method were answered, or failed for want of an answer.
  public func callCount(_ method: MethodDescriptor) -> Int { state.withLock { $0.asked[method.path] ?? 0 } }

  public func makeClientInterceptors<Request: Sendable, Response: Sendable>(
    for method: MethodDescriptor
  ) -> [ClientInterceptor<Request, Response>] {
    let (unary, streamed) = state.withLock { state in
      (
        state.unary[method.path] as? Unary<Request, Response>,
        state.streamed[method.path] as? Streamed<Request, Response>
      )
    }
    if unary == nil, streamed == nil, passesOthers { return [] }
    state.withLock { $0.asked[method.path, default: 0] += 1 }
    return [Stub(unary, streamed)]
  }

  private final class Stub<Request: Sendable, Response: Sendable>: ClientCallInterceptor<Request, Response> {
    private let unary: Unary<Request, Response>?
    private let streamed: Streamed<Request, Response>?

    init(_ unary: Unary<Request, Response>?, _ streamed: Streamed<Request, Response>?) {
      self.unary = unary
      self.streamed = streamed
      super.init()
    }

    override func intercept(
      _ request: UnaryRequest<Request>,
      context: Context,
      next: Next
    ) async throws -> UnaryResponse<Response> {
      guard let unary else { throw GRPCStatus.noAnswer(context.path) }
      return try await unary(request)
    }

    override func intercept(
      _ request: StreamedRequest<Request>,
      context: Context,
      next: StreamedNext
    ) async throws -> StreamedResponse<Response> {
      guard let streamed else { throw GRPCStatus.noAnswer(context.path) }
      return try await streamed(request)
    }
  }
}

extension GRPCStatus {
  fileprivate static func noAnswer(_ path: String) -> GRPCStatus {
    GRPCStatus(code: .unimplemented, message: "there is no canned answer for \(path)")
  }
}
