/// The parts of one response on their way from the test to the call, which may ask for them before or after.
///
/// ```
///   idle ──metadata──> open ──message──> sending ──end──> ended
/// ```
/// What comes earlier may be left out: a message or the end may come first.
struct FakeResponseParts<Response: Sendable>: Sendable {
  enum Part: Sendable {
    case metadata(HPACKHeaders)
    case message(Response)
    case end(GRPCStatus, HPACKHeaders)
  }

  private enum Phase {
    case idle, open, sending, ended
  }

  private let stream: AsyncStream<Part>
  private let sender: Sender

  private final class Sender: Sendable {
    let phase = Locked(Phase.idle)
    let continuation: AsyncStream<Part>.Continuation

    init(_ continuation: AsyncStream<Part>.Continuation) { self.continuation = continuation }
  }

  init() {
    // Unbounded: it holds what the test has made, no more.
    let (stream, continuation) = AsyncStream<Part>.makeStream()
    self.stream = stream
    sender = Sender(continuation)
  }

  // MARK: The test's side

  func send(_ part: Part) throws(FakeResponseProtocolViolation) {
    let violation: String? = sender.phase.withLock { phase in
      switch (phase, part) {
      case (.ended, _): return "the response has ended"
      case (.open, .metadata), (.sending, .metadata): return "the metadata can only be sent first, and once"
      case (.idle, .metadata): phase = .open
      case (_, .message): phase = .sending
      case (_, .end): phase = .ended
      }
      sender.continuation.yield(part)
      return nil
    }
    if let violation { throw FakeResponseProtocolViolation(violation) }
  }

  func send(error: any Error, trailers: HPACKHeaders) throws(FakeResponseProtocolViolation) {
    try send(.end(GRPCStatus(describing: error), trailers))
  }

  // MARK: The call's side

  /// Waits for the end; gives the last message, which a response that is none of a stream has one of.
  func message(_ context: ServerCallContext) async throws -> Response {
    var message: Response?
    for await part in stream {
      switch part {
      case .metadata(let headers): context.setInitialMetadata(headers)
      case .message(let next): message = next
      case .end(let status, let trailers):
        context.setTrailers(trailers)
        guard status.isOk else { throw status }
        guard let message else { throw GRPCStatus(code: .internalError, message: "no message was sent") }
        return message
      }
    }
    throw CancellationError()
  }

  /// Hands on what the test sends, until the end.
  func forward(to writer: ResponseStreamWriter<Response>, _ context: ServerCallContext) async throws {
    for await part in stream {
      switch part {
      case .metadata(let headers): context.setInitialMetadata(headers)
      case .message(let message): try await writer.send(message)
      case .end(let status, let trailers):
        context.setTrailers(trailers)
        guard status.isOk else { throw status }
        return
      }
    }
    throw CancellationError()
  }
}
