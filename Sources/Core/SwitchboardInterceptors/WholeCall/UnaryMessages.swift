public import SwitchboardCall

/// The single request of a call, as a whole-call interceptor sees it.
@frozen
public struct UnaryRequest<Message: Sendable>: Sendable {
  /// The metadata at the start of the call.
  public var metadata: HPACKHeaders
  /// The request.
  public var message: Message

  /// A request, by default without metadata.
  public init(metadata: HPACKHeaders = HPACKHeaders(), message: Message) {
    self.metadata = metadata
    self.message = message
  }
}

/// The single response of a call, as a whole-call interceptor sees it. A failed call throws its `GRPCStatus` instead.
@frozen
public struct UnaryResponse<Message: Sendable>: Sendable {
  /// The metadata before the response.
  public var metadata: HPACKHeaders
  /// The response.
  public var message: Message
  /// The metadata that arrived with the status.
  public var trailers: HPACKHeaders

  /// A response, by default without metadata.
  public init(
    metadata: HPACKHeaders = HPACKHeaders(),
    message: Message,
    trailers: HPACKHeaders = HPACKHeaders()
  ) {
    self.metadata = metadata
    self.message = message
    self.trailers = trailers
  }
}
