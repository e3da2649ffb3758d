/// Hooks for metrics and tracing. Every method does nothing unless it is written; all are called on an
/// event loop, and must not block.
public protocol CallObserver: Sendable {
  /// A call has begun: on a server when it is routed, on a client when it starts. What is returned is
  /// handed to `callEnded`, and can be a span or a time.
  func callStarted(_ call: ObservedCall) -> (any Sendable)?
  /// A call has ended; told exactly once for each that has begun.
  func callEnded(_ call: ObservedCall, _ end: ObservedEnd, _ token: (any Sendable)?)
  /// A connection can be used.
  func connectionOpened(_ connection: ObservedConnection)
  /// A connection that could be used is gone, and why.
  func connectionClosed(_ connection: ObservedConnection, _ reason: GRPCStatus)
  /// A peer did what no well-behaved one does, and was stopped. Told for each time; count them.
  func peerAbused(_ abuse: PeerAbuse, _ connection: ObservedConnection)
  /// A connection never came to be used, and why: on a client nobody answered, or either side's handshake failed.
  func connectionFailed(_ connection: ObservedConnection, _ reason: GRPCStatus)
}

extension CallObserver {
  public func callStarted(_ call: ObservedCall) -> (any Sendable)? { nil }
  public func callEnded(_ call: ObservedCall, _ end: ObservedEnd, _ token: (any Sendable)?) {}
  public func connectionOpened(_ connection: ObservedConnection) {}
  public func connectionClosed(_ connection: ObservedConnection, _ reason: GRPCStatus) {}
  public func peerAbused(_ abuse: PeerAbuse, _ connection: ObservedConnection) {}
  public func connectionFailed(_ connection: ObservedConnection, _ reason: GRPCStatus) {}
}

/// What an observer learns of a call.
public struct ObservedCall: Sendable {
  /// The method that is called.
  public let method: MethodDescriptor
  /// The metadata that it started with.
  public let headers: HPACKHeaders
  /// Whether this is the server's side of it.
  public let isServer: Bool

  /// Made by transports.
  package init(method: MethodDescriptor, headers: HPACKHeaders, isServer: Bool) {
    self.method = method
    self.headers = headers
    self.isServer = isServer
  }
}

/// What an observer learns of the end of a call.
public struct ObservedEnd: Sendable {
  /// How it ended, as this side saw it.
  public let status: GRPCStatus
  /// What this side sent.
  public let sent: MessageTotals
  /// What this side received.
  public let received: MessageTotals

  /// Made by transports.
  package init(status: GRPCStatus, sent: MessageTotals, received: MessageTotals) {
    self.status = status
    self.sent = sent
    self.received = received
  }
}

/// How much went one way in a call.
@frozen
public struct MessageTotals: Sendable, Hashable {
  /// How many messages.
  public var messages: Int
  /// Their bytes as they travelled: compressed where they were, with five bytes of framing each.
  public var bytes: Int

  /// Nothing, unless it is given.
  package init(messages: Int = 0, bytes: Int = 0) {
    self.messages = messages
    self.bytes = bytes
  }
}

/// What an observer learns of a connection.
public struct ObservedConnection: Sendable {
  /// The peer's address on a server, the target on a client.
  public let peer: String
  /// Whether TLS protects it.
  public let isSecure: Bool
  /// Whether this is the server's side of it.
  public let isServer: Bool

  /// Made by transports.
  package init(peer: String, isSecure: Bool, isServer: Bool) {
    self.peer = peer
    self.isSecure = isSecure
    self.isServer = isServer
  }
}
