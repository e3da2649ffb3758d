/// What a whole-call interceptor sees of a call's one request.
@frozen
public struct UnaryRequest<Message: Sendable>: Sendable {
  /// What the call starts with.
  public var metadata: HPACKHeaders
  /// The request.
  public var message: Message

  /// A request without metadata, unless some is given.
  public init(metadata: HPACKHeaders = HPACKHeaders(), message: Message) {
    self.metadata = metadata
    self.message = message
  }
}

/// What a whole-call interceptor sees of a call's one response. A call that fails throws its `GRPCStatus` instead.
@frozen
public struct UnaryResponse<Message: Sendable>: Sendable {
  /// What came before the response.
  public var metadata: HPACKHeaders
  /// The response.
  public var message: Message
  /// What came with the status.
  public var trailers: HPACKHeaders

  /// A response without metadata, unless some is given.
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
