public import Switchboard

/// The one response to a test client's call, which the test sends before or during the call.
///
/// A generated `<Service>TestClient` makes it with `make<Method>ResponseStream(_:)`.
public final class FakeUnaryResponse<Request: Sendable, Response: Sendable>: Sendable {
  private let exchange: FakeExchange<Request, Response>

  init(_ exchange: FakeExchange<Request, Response>) { self.exchange = exchange }

  /// Sends the response and ends the call. If `status` is an error, the client receives the error instead.
  public func sendMessage(
    _ response: Response,
    initialMetadata: HPACKHeaders = HPACKHeaders(),
    trailingMetadata: HPACKHeaders = HPACKHeaders(),
    status: GRPCStatus = .ok
  ) throws(FakeResponseProtocolViolation) {
    try exchange.send(.metadata(initialMetadata))
    try exchange.send(.message(response))
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
