/// The stream of responses to a call of a test client, which the test sends before the call is made or while it runs.
///
/// A generated `<Service>TestClient` makes them: `make<Method>ResponseStream(_:)`.
public final class FakeStreamingResponse<Request: Sendable, Response: Sendable>: Sendable {
  private let parts = FakeResponseParts<Response>()
  private let requests: FakeRequests<Request>
  /// Whether the end is held back until the client has sent all its requests.
  private let isLast: Bool

  init(isLast: Bool = false, _ requestHandler: @escaping @Sendable (FakeRequestPart<Request>) -> Void) {
    requests = FakeRequests(observe: requestHandler)
    self.isLast = isLast
  }

  /// Sends metadata; the client sees it with the first response. To be called first, and once.
  public func sendInitialMetadata(_ metadata: HPACKHeaders) throws(FakeResponseProtocolViolation) {
    try parts.send(.metadata(metadata))
  }

  /// Sends a response.
  public func sendMessage(_ response: Response) throws(FakeResponseProtocolViolation) {
    try parts.send(.message(response))
  }

  /// Ends the call.
  public func sendEnd(
    status: GRPCStatus = .ok,
    trailingMetadata: HPACKHeaders = HPACKHeaders()
  ) throws(FakeResponseProtocolViolation) {
    try parts.send(.end(status, trailingMetadata))
  }

  /// Ends the call with an error.
  public func sendError(
    _ error: any Error,
    trailingMetadata: HPACKHeaders = HPACKHeaders()
  ) throws(FakeResponseProtocolViolation) {
    try parts.send(error: error, trailers: trailingMetadata)
  }

  func serve(
    _ request: Request,
    _ writer: ResponseStreamWriter<Response>,
    _ context: ServerCallContext
  ) async throws {
    requests.show(request, context)
    try await parts.forward(to: writer, context)
  }

  func serve(
    _ stream: RequestStream<Request>,
    _ writer: ResponseStreamWriter<Response>,
    _ context: ServerCallContext
  ) async throws {
    requests.observe(.metadata(context.headers))
    // Ended with the call, whichever of the two ends it.
    async let shown: Void = requests.show(stream)
    try await parts.forward(to: writer, context)
    if isLast { await shown }
  }
}
