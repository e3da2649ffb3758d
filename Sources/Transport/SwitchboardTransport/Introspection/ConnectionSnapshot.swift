import SwitchboardCall
import SwitchboardNetwork

/// The state of a connection at one moment.
package struct ConnectionSnapshot: Sendable {
  /// Identifies a connection of a server or channel.
  package struct Reference: Sendable, Hashable {
    /// Its number, which is not reused.
    package let number: Int
    /// A name for its peer.
    package let name: String
  }

  /// The negotiated TLS parameters.
  package typealias Security = TLSParameters

  /// The number and name of the connection.
  package let reference: Reference
  /// Whether it belongs to a server.
  package let isServer: Bool
  /// The local address.
  package let localAddress: SocketAddress?
  /// The address of the peer. It carries no information for clients of a Unix socket.
  package let remoteAddress: SocketAddress?
  /// `nil` if the connection does not use TLS.
  package let security: Security?

  /// The number of streams opened: one for each call or attempt.
  package let streamsStarted: Int
  /// The number of streams with a complete response, whatever its status.
  package let streamsSucceeded: Int
  /// The number of streams that were reset or lost.
  package let streamsFailed: Int
  /// The number of messages passed to the connection in full.
  package let messagesSent: Int
  /// The number of messages received in full.
  package let messagesReceived: Int
  /// The number of keepalive pings sent.
  package let keepalivesSent: Int
  /// When the latest stream was opened, with millisecond precision; `nil` before the first.
  package let lastStreamStarted: ContinuousClock.Instant?
  /// When the last message was sent.
  package let lastMessageSent: ContinuousClock.Instant?
  /// When the last message was received.
  package let lastMessageReceived: ContinuousClock.Instant?

  /// How often the peer broke each rule.
  package let abuses: [PeerAbuse: Int]

  /// What only HTTP/2 has; `nil` if it is not spoken, or not yet.
  package let http2: HTTP2?

  /// The windows of a connection, and what its peer has said about it.
  package struct HTTP2: Sendable {
    /// How many bytes this side may send on the connection until the peer grants more.
    package let sendWindow: Int
    /// How many bytes the peer may send until this side grants more.
    package let receiveWindow: Int
    /// The error code of the GOAWAY from the peer, if it sent one.
    package let goAwayError: UInt32?
    /// The maximum number of concurrent streams that the peer allows.
    package let peerMaxConcurrentStreams: Int
  }
}
