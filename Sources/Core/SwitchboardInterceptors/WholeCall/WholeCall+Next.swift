// unsafe: touched on its call's loop alone; continuations are taken out by whoever resumes them

import SwitchboardCall

// The implementation of `next`, which runs on the interceptor's thread.
extension WholeCall {
  func next(unary request: UnaryRequest<Request>) async throws -> UnaryResponse<Response> {
    try await attempt { call, attempt, waiting in attempt.send(request, of: call, waiting) }
  }

  func next(streamed request: StreamedRequest<Request>) async throws -> StreamedResponse<Response> {
    try await attempt { call, attempt, waiting in attempt.send(request, of: call, waiting) }
  }

  /// Sends the call on and waits for the answer.
  private func attempt<Answer>(
    _ send:
      @escaping @Sendable (
        WholeCall, WholeCallAttempt<Request, Response>, UnsafeContinuation<Answer, any Error>
      ) -> Void
  ) async throws -> Answer {
    try await withTaskCancellationHandler {
      try await withUnsafeThrowingContinuation { waiting in
        self.onLoop { call in
          do {
            send(call, try call.beginAttempt(), waiting)
          } catch {
            waiting.resume(throwing: error)
          }
        }
      }
    } onCancel: {
      onLoop { $0.cancelAttempt() }
    }
  }

  /// On the loop.
  private func beginAttempt() throws(GRPCStatus) -> WholeCallAttempt<Request, Response> {
    guard !isOver else { throw .callEnded }
    if let cancellation { throw cancellation }
    if let attempt, !attempt.hasEnded { throw .nextCalledAgain }
    let attempt = WholeCallAttempt(self)
    attemptBegins(attempt)
    return attempt
  }

  /// The interceptor cancelled its own task. If the chain cancelled it, the chain decides how the call ends.
  private func cancelAttempt() {
    guard let attempt, !attempt.hasEnded, cancellation == nil, !isOver else { return }
    ports.abandon()
    attempt.fail(.cancelledByCaller, HPACKHeaders(), of: self)
  }
}

extension GRPCStatus {
  static let nextCalledAgain = GRPCStatus(
    code: .failedPrecondition,
    message: "an interceptor called next again before its last call had ended"
  )
}
