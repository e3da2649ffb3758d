public import SwitchboardCall

/// The requests of a streaming call, as a whole-call interceptor sees them.
public struct StreamedRequest<Message: Sendable>: Sendable {
  /// The metadata at the start of the call.
  public var metadata: HPACKHeaders
  /// The requests; exactly one if only the responses stream.
  public var messages: MessageStream<Message>

  /// Requests, by default without metadata.
  public init(metadata: HPACKHeaders = HPACKHeaders(), messages: MessageStream<Message>) {
    self.metadata = metadata
    self.messages = messages
  }
}

/// The responses of a streaming call, as a whole-call interceptor sees them.
public struct StreamedResponse<Message: Sendable>: Sendable {
  /// The metadata before the first response.
  public var metadata: HPACKHeaders
  /// The responses; exactly one if only the requests stream. If the call fails, they end by throwing its status.
  public var messages: MessageStream<Message>
  /// The metadata that arrived with the status; call it after the messages have ended.
  public var trailers: @Sendable () -> HPACKHeaders

  /// Responses, by default without metadata.
  public init(
    metadata: HPACKHeaders = HPACKHeaders(),
    messages: MessageStream<Message>,
    trailers: @escaping @Sendable () -> HPACKHeaders = { HPACKHeaders() }
  ) {
    self.metadata = metadata
    self.messages = messages
    self.trailers = trailers
  }
}
