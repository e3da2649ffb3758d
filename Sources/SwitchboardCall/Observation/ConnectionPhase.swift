/// A step of a channel's connecting that is done, for tools that show how long each takes.
package enum ConnectionPhase: Sendable {
  /// The target has these addresses, one of which is connected to next.
  case lookedUp(addresses: [String])
  /// A socket is connected to this address.
  case connected(address: String)
  /// The TLS handshake is done.
  case secured(cipherSuite: String)
  /// The server has sent its settings: calls can begin.
  case ready
}
