/// Headers that carry the identity of a trace.
public enum Propagator: Sendable, Hashable {
  /// W3C's `traceparent` and `tracestate`.
  case traceContext
  /// `grpc-trace-bin`, for peers that know no other header.
  case grpcTraceBin
}
