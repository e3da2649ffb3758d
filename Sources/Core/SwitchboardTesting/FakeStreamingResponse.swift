public import Switchboard

/// The stream of responses to a test client's call, which the test sends before or during the call.
///
/// A generated `<Service>TestClient` makes it with `make<Method>ResponseStream(_:)`.
public final class FakeStreamingResponse<Request: Sendable, Response: Sendable>: Sendable {
  private let exchange: FakeExchange<Request, Response>

  init(_ exchange: FakeExchange<Request, Response>) { self.exchange = exchange }

  /// Sends metadata, which the client receives with the first response. Call it first, at most once.
  public func sendInitialMetadata(_ metadata: HPACKHeaders) throws(FakeResponseProtocolViolation) {
    try exchange.send(.metadata(metadata))
  }

  /// Sends a response.
  public func sendMessage(_ response: Response) throws(FakeResponseProtocolViolation) {
    try exchange.send(.message(response))
  }

  /// Ends the call.
  public func sendEnd(
    status: GRPCStatus = .ok,
    trailingMetadata: HPACKHeaders = HPACKHeaders()
  ) throws(FakeResponseProtocolViolation) {
    try exchange.send(.end(status, trailingMetadata))
  }

  /// Ends the call with an error.
  public func sendError(
    _ error: any Error,
    trailingMetadata: HPACKHeaders = HPACKHeaders()
  ) throws(FakeResponseProtocolViolation) {
    try exchange.send(error: error, trailers: trailingMetadata)
  }
}
