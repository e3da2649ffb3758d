import SwitchboardCall

/// One connection as it was at a moment.
public struct ConnectionSnapshot: Sendable {
  /// A connection among those of its server or channel.
  public struct Reference: Sendable, Hashable {
    /// Its number there, which no later connection gets.
    public let number: Int
    /// Where it leads to.
    public let name: String
  }

  /// What TLS has agreed on.
  public struct Security: Sendable, Hashable {
    /// By the name that the standard gives it, such as `TLS_AES_128_GCM_SHA256`.
    public let cipherSuite: String
    /// What this side has shown, in DER; empty where that was nothing.
    public let localCertificate: [UInt8]
    /// What the peer has shown, in DER; empty where that was nothing.
    public let remoteCertificate: [UInt8]
  }

  /// Which it is.
  public let reference: Reference
  /// Whether it is one of a server's.
  public let isServer: Bool
  /// This end's address.
  public let localAddress: SocketAddress?
  /// The peer's. The clients of a unix socket have none that says anything.
  public let remoteAddress: SocketAddress?
  /// `nil` where the connection is not secured.
  public let security: Security?

  /// The streams that were opened: one for each call, or each attempt at one.
  public let streamsStarted: Int
  /// Those whose answer was complete, whatever it was.
  public let streamsSucceeded: Int
  /// Those that were cut off.
  public let streamsFailed: Int
  /// Messages that were handed whole to the connection.
  public let messagesSent: Int
  /// Messages that have arrived whole.
  public let messagesReceived: Int
  /// How often this side has asked the peer for a sign of life.
  public let keepalivesSent: Int
  /// When the latest stream was opened, to the millisecond or so; `nil` before the first.
  public let lastStreamStarted: ContinuousClock.Instant?
  /// When a message was last sent.
  public let lastMessageSent: ContinuousClock.Instant?
  /// When a message last arrived.
  public let lastMessageReceived: ContinuousClock.Instant?

  /// How many bytes this side may send on the connection before the peer allows more.
  public let sendWindow: Int
  /// How many bytes the peer may send before this side allows more.
  public let receiveWindow: Int
  /// The error of the GOAWAY that the peer has sent, if it has.
  public let goAwayError: UInt32?
  /// How many streams the peer lets this side have open at a time.
  public let peerMaxConcurrentStreams: Int
}
