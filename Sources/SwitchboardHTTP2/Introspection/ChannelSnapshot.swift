/// The state of a channel at one moment.
public struct ChannelSnapshot: Sendable {
  /// The target given to the channel.
  public let target: String
  /// The combined state of its connections.
  public let state: ConnectivityState
  /// Its calls, including those that wait for a connection. Each attempt of a retry policy counts.
  public let calls: CallCounts
  /// The maximum number of connections.
  public let maxConnections: Int
  /// The channel's events.
  public let trace: ChannelTrace
  /// The open connections, in the order in which they were made.
  public let connections: [ConnectionSnapshot.Reference]
}
