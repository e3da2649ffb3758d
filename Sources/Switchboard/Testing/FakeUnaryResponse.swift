/// The one response to a call of a test client, which the test sends before the call is made or while it waits.
///
/// A generated `<Service>TestClient` makes them: `make<Method>ResponseStream(_:)`.
public final class FakeUnaryResponse<Request: Sendable, Response: Sendable>: Sendable {
  private let parts = FakeResponseParts<Response>()
  private let requests: FakeRequests<Request>
  /// Whether the response is held back until the client has sent all its requests.
  private let isLast: Bool

  init(isLast: Bool = false, _ requestHandler: @escaping @Sendable (FakeRequestPart<Request>) -> Void) {
    requests = FakeRequests(observe: requestHandler)
    self.isLast = isLast
  }

  /// Sends the response and ends the call. Where `status` is an error, the client sees that instead.
  public func sendMessage(
    _ response: Response,
    initialMetadata: HPACKHeaders = HPACKHeaders(),
    trailingMetadata: HPACKHeaders = HPACKHeaders(),
    status: GRPCStatus = .ok
  ) throws(FakeResponseProtocolViolation) {
    try parts.send(.metadata(initialMetadata))
    try parts.send(.message(response))
    try parts.send(.end(status, trailingMetadata))
  }

  /// Ends the call with an error.
  public func sendError(
    _ error: any Error,
    trailingMetadata: HPACKHeaders = HPACKHeaders()
  ) throws(FakeResponseProtocolViolation) {
    try parts.send(error: error, trailers: trailingMetadata)
  }

  func serve(_ request: Request, _ context: ServerCallContext) async throws -> Response {
    requests.show(request, context)
    return try await parts.message(context)
  }

  func serve(_ stream: RequestStream<Request>, _ context: ServerCallContext) async throws -> Response {
    requests.observe(.metadata(context.headers))
    // Ended with the call, whichever of the two ends it.
    async let shown: Void = requests.show(stream)
    let response = try await parts.message(context)
    if isLast { await shown }
    return response
  }
}
