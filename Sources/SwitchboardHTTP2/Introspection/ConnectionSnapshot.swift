import SwitchboardCall

/// The state of a connection at one moment.
public struct ConnectionSnapshot: Sendable {
  /// Identifies a connection of a server or channel.
  public struct Reference: Sendable, Hashable {
    /// Its number, which is not reused.
    public let number: Int
    /// A name for its peer.
    public let name: String
  }

  /// The negotiated TLS parameters.
  public struct Security: Sendable, Hashable {
    /// The standard name of the cipher suite, such as `TLS_AES_128_GCM_SHA256`.
    public let cipherSuite: String
    /// The certificate of this side, in DER; empty if it sent none.
    public let localCertificate: [UInt8]
    /// The certificate of the peer, in DER; empty if it sent none.
    public let remoteCertificate: [UInt8]
  }

  /// The number and name of the connection.
  public let reference: Reference
  /// Whether it belongs to a server.
  public let isServer: Bool
  /// The local address.
  public let localAddress: SocketAddress?
  /// The address of the peer. It carries no information for clients of a unix socket.
  public let remoteAddress: SocketAddress?
  /// `nil` if the connection does not use TLS.
  public let security: Security?

  /// The number of streams opened: one for each call or attempt.
  public let streamsStarted: Int
  /// The number of streams with a complete response, whatever its status.
  public let streamsSucceeded: Int
  /// The number of streams that were reset or lost.
  public let streamsFailed: Int
  /// The number of messages passed to the connection in full.
  public let messagesSent: Int
  /// The number of messages received in full.
  public let messagesReceived: Int
  /// The number of keepalive pings sent.
  public let keepalivesSent: Int
  /// When the latest stream was opened, with millisecond precision; `nil` before the first.
  public let lastStreamStarted: ContinuousClock.Instant?
  /// When the last message was sent.
  public let lastMessageSent: ContinuousClock.Instant?
  /// When the last message was received.
  public let lastMessageReceived: ContinuousClock.Instant?

  /// How many bytes this side may send on the connection until the peer grants more.
  public let sendWindow: Int
  /// How many bytes the peer may send until this side grants more.
  public let receiveWindow: Int
  /// The error code of the GOAWAY from the peer, if it sent one.
  public let goAwayError: UInt32?
  /// The maximum number of concurrent streams that the peer allows.
  public let peerMaxConcurrentStreams: Int
}
