/// The combined state of a channel's connections, with gRPC's names.
public enum ConnectivityState: Sendable, Hashable {
  /// There is no connection, and no call needs one.
  case idle
  /// The channel is connecting.
  case connecting
  /// There is a connection that accepts calls.
  case ready
  /// The last attempt to connect failed. The channel will try again after a delay.
  case transientFailure
  /// The channel was shut down, which is final.
  case shutdown
}
