/// What a channel's connections amount to, as gRPC names it.
public enum ConnectivityState: Sendable, Hashable {
  /// No connection, and no call that wants one.
  case idle
  /// An attempt to connect is under way.
  case connecting
  /// There is a connection, and it takes calls.
  case ready
  /// The last attempt to connect failed; another follows after a while.
  case transientFailure
  /// For good.
  case shutdown
}
