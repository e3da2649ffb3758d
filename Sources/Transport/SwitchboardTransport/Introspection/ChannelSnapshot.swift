import SwitchboardBalancing
import SwitchboardCall

/// The state of a channel at one moment.
package struct ChannelSnapshot: Sendable {
  /// The target given to the channel.
  package let target: String
  /// The combined state of its connections.
  package let state: ConnectivityState
  /// Its calls, including those that wait for a connection. Each attempt of a retry policy counts.
  package let calls: CallCounts
  /// The maximum number of connections to each server.
  package let maxConnections: Int
  /// The name of the policy that is in use.
  package let policy: String
  /// The channel's events.
  package let trace: ChannelTrace
  /// The servers that its policy uses, in the order in which they were added.
  package let subchannels: [SubchannelSnapshot]
}

/// The state of a channel's connections to one server.
package struct SubchannelSnapshot: Sendable {
  /// Its number in the channel, which is not reused, and which no connection has.
  package let number: Int
  /// The addresses of the server; the first few of many.
  package let target: String
  /// The state of the connections.
  package let state: ConnectivityState
  /// Why it last failed, until it is tried again.
  package let failure: GRPCStatus?
  /// The calls that were sent to the server.
  package let calls: CallCounts
  /// The open connections, in the order in which they were made.
  package let connections: [ConnectionSnapshot.Reference]
}
