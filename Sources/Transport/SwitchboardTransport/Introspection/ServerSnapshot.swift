import SwitchboardNetwork

/// The state of a server at one moment, or rather of each of its loops at one moment.
package struct ServerSnapshot: Sendable {
  /// An address that the server listens on.
  package struct ListenerReference: Sendable, Hashable {
    /// Its number among the listeners and connections of the server.
    package let number: Int
    /// With the port that was chosen.
    package let address: SocketAddress
  }

  /// What a loop does for the server.
  package struct LoopUse: Sendable {
    /// Names the loop, which may serve others, too.
    package let id: ObjectIdentifier
    /// The connections of the server on it.
    package let connections: Int
    /// The time of a processor that its thread has used, in nanoseconds.
    package let processorTime: UInt64
  }

  /// The calls on all connections, including closed ones.
  package internal(set) var calls = CallCounts()
  /// The listeners, in the order in which they were bound.
  package let listeners: [ListenerReference]
  /// The open connections, in the order in which they were accepted; empty unless they are listed.
  package internal(set) var connections: [ConnectionSnapshot.Reference] = []
  /// The loops, unless they have ended.
  package internal(set) var loops: [LoopUse] = []
  /// Whether it accepts no more calls.
  package let isDraining: Bool

  /// The number of open connections, listed or not.
  package var connectionCount: Int { loops.reduce(0) { $0 + $1.connections } }
}
