/// A part of one side's stream that has been sent. The order is: the metadata, every message, the end.
@frozen
@usableFromInline package enum SentPart: Sendable {
  /// The metadata at the start of the call.
  case metadata
  /// The next message.
  case message
  /// The end of this side's stream.
  case end
}
