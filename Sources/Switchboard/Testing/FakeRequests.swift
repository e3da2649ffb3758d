/// Shows the requests of one call to the test.
struct FakeRequests<Request: Sendable>: Sendable {
  let observe: @Sendable (FakeRequestPart<Request>) -> Void

  /// Shows the one request of a call.
  func show(_ request: Request, _ context: ServerCallContext) {
    observe(.metadata(context.headers))
    observe(.message(request))
    observe(.end)
  }

  /// Shows requests as they come.
  func show(_ requests: RequestStream<Request>) async {
    do {
      for try await request in requests { observe(.message(request)) }
      observe(.end)
    } catch {
      // The call has ended before its requests have, and says why itself.
    }
  }
}
