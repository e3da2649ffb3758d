import SwitchboardBalancing

/// The state of a channel at one moment.
package struct ChannelSnapshot: Sendable {
  /// The target given to the channel.
  package let target: String
  /// The combined state of its connections.
  package let state: ConnectivityState
  /// Its calls, including those that wait for a connection. Each attempt of a retry policy counts.
  package let calls: CallCounts
  /// The maximum number of connections.
  package let maxConnections: Int
  /// The channel's events.
  package let trace: ChannelTrace
  /// The open connections, in the order in which they were made.
  package let connections: [ConnectionSnapshot.Reference]
}
