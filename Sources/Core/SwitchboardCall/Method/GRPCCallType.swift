/// The four types of call.
@frozen
public enum GRPCCallType: Hashable, Sendable {
  /// One request, one response.
  case unary
  /// Any number of requests, one response.
  case clientStreaming
  /// One request, any number of responses.
  case serverStreaming
  /// Any number of requests and responses, in any order.
  case bidirectionalStreaming

  /// Whether the client may send any number of messages, rather than exactly one.
  @inlinable
  package var streamsRequests: Bool { self == .clientStreaming || self == .bidirectionalStreaming }

  /// Whether the server may send any number of messages, rather than exactly one.
  @inlinable
  package var streamsResponses: Bool { self == .serverStreaming || self == .bidirectionalStreaming }
}
