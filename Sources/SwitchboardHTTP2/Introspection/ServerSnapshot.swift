/// A server as it was at a moment: of each loop, what was true there at one time.
public struct ServerSnapshot: Sendable {
  /// An address that the server listens on.
  public struct ListenerReference: Sendable, Hashable {
    /// Its number among the listeners and connections of the server.
    public let number: Int
    /// The port is the one that was chosen.
    public let address: SocketAddress
  }

  /// The calls of all connections, past ones included.
  public internal(set) var calls = CallCounts()
  /// In the order in which they were bound.
  public let listeners: [ListenerReference]
  /// Those that are open, in the order in which they came.
  public internal(set) var connections: [ConnectionSnapshot.Reference] = []
}
