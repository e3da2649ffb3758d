import Switchboard
import SwitchboardCall

/// One call of a test client: the response, which the test sends before or during the call, and what the test sees of
/// the requests.
///
/// ```
///   idle ──metadata──> open ──message──> sending ──end──> ended
/// ```
/// A message or the end may also come first.
final class FakeExchange<Request: Sendable, Response: Sendable>: Sendable {
  enum Part: Sendable {
    case metadata(HPACKHeaders)
    case message(Response)
    case end(GRPCStatus, HPACKHeaders)
  }

  private enum Phase {
    case idle, open, sending, ended
  }

  private let showRequest: @Sendable (FakeRequestPart<Request>) -> Void
  /// Whether the end waits until the client has sent all its requests.
  private let isLast: Bool
  private let phase = Locked(Phase.idle)
  // Unbounded: it holds only what the test sends.
  private let (parts, sender) = AsyncStream<Part>.makeStream()

  init(isLast: Bool = false, _ showRequest: @escaping @Sendable (FakeRequestPart<Request>) -> Void) {
    self.showRequest = showRequest
    self.isLast = isLast
  }

  // MARK: For the test

  func send(_ part: Part) throws(FakeResponseProtocolViolation) {
    let violation: String? = phase.withLock { phase in
      switch (phase, part) {
      case (.ended, _): return "the response has ended"
      case (.open, .metadata), (.sending, .metadata): return "the metadata can only be sent first, and once"
      case (.idle, .metadata): phase = .open
      case (_, .message): phase = .sending
      case (_, .end): phase = .ended
      }
      sender.yield(part)
      return nil
    }
    if let violation { throw FakeResponseProtocolViolation(violation) }
  }

  func send(error: any Error, trailers: HPACKHeaders) throws(FakeResponseProtocolViolation) {
    let isOk = (error as? GRPCStatus)?.isOk == true
    try send(.end(isOk ? .okAsError : GRPCStatus(describing: error), trailers))
  }

  // MARK: For the call

  nonisolated(nonsending) func answer(
    _ request: Request,
    _ context: ServerCallContext,
    _ take: nonisolated(nonsending) (Response) async throws -> Void
  ) async throws {
    showRequest(.metadata(context.headers))
    showRequest(.message(request))
    showRequest(.end)
    try await respond(context, take)
  }

  nonisolated(nonsending) func answer(
    _ requests: RequestStream<Request>,
    _ context: ServerCallContext,
    _ take: nonisolated(nonsending) (Response) async throws -> Void
  ) async throws {
    showRequest(.metadata(context.headers))
    // Cancelled if the response ends the call first.
    async let shown: Void = show(requests)
    try await respond(context, take)
    if isLast { await shown }
  }

  private func show(_ requests: RequestStream<Request>) async {
    do {
      for try await request in requests { showRequest(.message(request)) }
      showRequest(.end)
    } catch {
      // The call ended before its requests did; its status says why.
    }
  }

  nonisolated(nonsending) private func respond(
    _ context: ServerCallContext,
    _ take: nonisolated(nonsending) (Response) async throws -> Void
  ) async throws {
    for await part in parts {
      switch part {
      case .metadata(let headers): context.setInitialMetadata(headers)
      case .message(let message): try await take(message)
      case .end(let status, let trailers):
        context.setTrailers(trailers)
        guard status.isOk else { throw status }
        return
      }
    }
    throw CancellationError()
  }
}

extension GRPCStatus {
  fileprivate static let okAsError = GRPCStatus(
    code: .unknown,
    message: "an error was enqueued whose status is OK: enqueue a response, or an error with another code"
  )
}
