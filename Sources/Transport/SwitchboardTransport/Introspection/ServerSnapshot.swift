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

  /// The calls on all connections, including closed ones.
  package internal(set) var calls = CallCounts()
  /// The listeners, in the order in which they were bound.
  package let listeners: [ListenerReference]
  /// The open connections, in the order in which they were accepted.
  package internal(set) var connections: [ConnectionSnapshot.Reference] = []
}

extension ServerCore {
  /// The part of a snapshot that comes from one loop.
  struct Inventory: Sendable {
    let calls: CallTotals
    let connections: [ConnectionSnapshot.Reference]
    let clock: LoopClock
  }
}
