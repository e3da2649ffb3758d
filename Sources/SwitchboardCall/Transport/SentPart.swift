/// A part of one side's stream that has left for the network. Parts leave in order: metadata, every
/// message, the end.
@frozen
@usableFromInline package enum SentPart: Sendable {
  /// What the call starts with.
  case metadata
  /// The next of the messages.
  case message
  /// The last of the call's frames on this side.
  case end
}
