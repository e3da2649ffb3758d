/// What a whole-call interceptor sees of the requests of a call that streams, one way or both.
public struct StreamedRequest<Message: Sendable>: Sendable {
  /// What the call starts with.
  public var metadata: HPACKHeaders
  /// The requests: exactly one where only the responses stream.
  public var messages: MessageStream<Message>

  /// Requests without metadata, unless some is given.
  public init(metadata: HPACKHeaders = HPACKHeaders(), messages: MessageStream<Message>) {
    self.metadata = metadata
    self.messages = messages
  }
}

/// What a whole-call interceptor sees of the responses of a call that streams, one way or both.
public struct StreamedResponse<Message: Sendable>: Sendable {
  /// What came before the first response.
  public var metadata: HPACKHeaders
  /// The responses: exactly one where only the requests stream. They end by throwing the status of a call that failed.
  public var messages: MessageStream<Message>
  /// What came with the status: asked for when the messages have ended.
  public var trailers: @Sendable () -> HPACKHeaders

  /// Responses without metadata, unless some is given.
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
