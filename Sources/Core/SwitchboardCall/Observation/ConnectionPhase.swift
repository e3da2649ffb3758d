/// A completed step of connecting a channel, for tools that show how long each step takes.
package enum ConnectionPhase: Sendable {
  /// The target was resolved to these addresses; the channel connects to one of them next.
  case lookedUp(addresses: [String])
  /// A socket is connected to this address.
  case connected(address: String)
  /// The TLS handshake is done.
  case secured(cipherSuite: String)
  /// The server has sent its settings: calls can begin.
  case ready
}
