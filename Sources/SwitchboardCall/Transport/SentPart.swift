/// A part of one side's stream that has left for the network. Parts leave in order: metadata, every
/// message, the end.
@frozen
public enum SentPart: Sendable {
  case metadata
  case message
  case end
}
