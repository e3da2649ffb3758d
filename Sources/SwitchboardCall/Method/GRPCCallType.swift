/// The four shapes of a call.
@frozen
public enum GRPCCallType: Hashable, Sendable {
  case unary
  case clientStreaming
  case serverStreaming
  case bidirectionalStreaming

  /// Whether the client may send any number of messages, rather than exactly one.
  @inlinable
  public var streamsRequests: Bool { self == .clientStreaming || self == .bidirectionalStreaming }

  /// Whether the server may send any number of messages, rather than exactly one.
  @inlinable
  public var streamsResponses: Bool { self == .serverStreaming || self == .bidirectionalStreaming }
}
