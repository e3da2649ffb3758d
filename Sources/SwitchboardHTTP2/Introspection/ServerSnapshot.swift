/// The state of a server at one moment, or rather of each of its loops at one moment.
public struct ServerSnapshot: Sendable {
  /// An address that the server listens on.
  public struct ListenerReference: Sendable, Hashable {
    /// Its number among the listeners and connections of the server.
    public let number: Int
    /// With the port that was chosen.
    public let address: SocketAddress
  }

  /// The calls on all connections, including closed ones.
  public internal(set) var calls = CallCounts()
  /// The listeners, in the order in which they were bound.
  public let listeners: [ListenerReference]
  /// The open connections, in the order in which they were accepted.
  public internal(set) var connections: [ConnectionSnapshot.Reference] = []
}
