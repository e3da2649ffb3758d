/// A channel as it was at a moment.
public struct ChannelSnapshot: Sendable {
  /// As the channel was told it.
  public let target: String
  /// What its connections amount to.
  public let state: ConnectivityState
  /// The calls, those included that wait for a connection. What is made again by a retry policy counts each time.
  public let calls: CallCounts
  /// The most connections it may have.
  public let maxConnections: Int
  /// What happened to it.
  public let trace: ChannelTrace
  /// Those that it has, in the order in which they were made.
  public let connections: [ConnectionSnapshot.Reference]
}
