public import SwitchboardCall

/// Answers calls in place of a server, for tests of code that makes calls.
///
/// ```swift
/// let answers = CannedAnswers()
/// answers.answer(Echo_EchoMetadata.Methods.get) { request in .with { $0.text = request.message.text } }
/// let options = CallOptions.with { $0.interceptorFactories = [answers] }
/// ```
///
/// Calls that it answers do not reach the network.
public final class CannedAnswers: ClientInterceptorFactory {
  private typealias Unary<Request: Sendable, Response: Sendable> =
    @Sendable (UnaryRequest<Request>) async throws -> UnaryResponse<Response>
  private typealias Streamed<Request: Sendable, Response: Sendable> =
    @Sendable (StreamedRequest<Request>) async throws -> StreamedResponse<Response>

  private struct State: Sendable {
    var unary: [String: any Sendable] = [:]
    var streamed: [String: any Sendable] = [:]
    var callCounts: [String: Int] = [:]
  }

  private let state = Locked(State())
  private let passesOthers: Bool

  /// Fails calls to methods without an answer with `UNIMPLEMENTED`, or passes them on if `passingOthers`.
  public init(passingOthers: Bool = false) {
    passesOthers = passingOthers
  }

  /// Answers a unary method with the result of the closure; an error that it throws fails the call.
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

  /// Answers a streaming method with the messages that the closure returns; an error that it throws fails the call.
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

  /// The number of calls to a method that were answered, or failed because there was no answer.
  public func callCount(_ method: MethodDescriptor) -> Int {
    state.withLock { $0.callCounts[method.path] ?? 0 }
  }

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
    state.withLock { $0.callCounts[method.path, default: 0] += 1 }
    return [
      Stub(unary, streamed) { [self] in noAnswer(to: method, hasOther: unary != nil || streamed != nil) }
    ]
  }

  /// The failure of a call without an answer, with what there is.
  private func noAnswer(to method: MethodDescriptor, hasOther: Bool) -> GRPCStatus {
    guard !hasOther else {
      let right = method.type == .unary ? "answer" : "answerStream"
      return .noAnswer(method.path, "its answer was given for another type of method: use \(right)")
    }
    let known = state.withLock { Set($0.unary.keys).union($0.streamed.keys).sorted() }
    guard !known.isEmpty else { return .noAnswer(method.path, "there are none") }
    guard !known.contains(method.path) else {
      return .noAnswer(method.path, "its answer has messages of other types")
    }
    let more = known.count > Self.mostShown ? " and \(known.count - Self.mostShown) more" : ""
    return .noAnswer(
      method.path,
      "there are answers for \(known.prefix(Self.mostShown).joined(separator: ", "))\(more)"
    )
  }

  private static let mostShown = 10

  private final class Stub<Request: Sendable, Response: Sendable>: ClientCallInterceptor<Request, Response> {
    private let unary: Unary<Request, Response>?
    private let streamed: Streamed<Request, Response>?

    /// The failure without an answer.
    private let failure: @Sendable () -> GRPCStatus

    init(
      _ unary: Unary<Request, Response>?,
      _ streamed: Streamed<Request, Response>?,
      failure: @escaping @Sendable () -> GRPCStatus
    ) {
      self.unary = unary
      self.streamed = streamed
      self.failure = failure
      super.init()
    }

    override func intercept(
      _ request: UnaryRequest<Request>,
      context: Context,
      next: Next
    ) async throws -> UnaryResponse<Response> {
      guard let unary else { throw failure() }
      return try await unary(request)
    }

    override func intercept(
      _ request: StreamedRequest<Request>,
      context: Context,
      next: StreamedNext
    ) async throws -> StreamedResponse<Response> {
      guard let streamed else { throw failure() }
      return try await streamed(request)
    }
  }
}

extension GRPCStatus {
  fileprivate static func noAnswer(_ path: String, _ reason: String) -> GRPCStatus {
    GRPCStatus(code: .unimplemented, message: "no canned answer for \(path): \(reason)")
  }
}
