/// Hooks for metrics and tracing. All methods do nothing by default, run on an event loop and must not block.
///
/// ```swift
/// struct Latency: CallObserver {
///   func callStarted(_ call: ObservedCall) -> (any Sendable)? { ContinuousClock.now }
///   func callEnded(_ call: ObservedCall, _ end: ObservedEnd, _ token: (any Sendable)?) {
///     guard let start = token as? ContinuousClock.Instant else { return }
///     print(call.method.path, end.status.code, ContinuousClock.now - start)
///   }
/// }
/// ```
public protocol CallObserver: Sendable {
  /// A call has begun: a server has routed it, or a client has started it. The returned value, such as a span or a
  /// time, is passed to `callEnded`.
  func callStarted(_ call: ObservedCall) -> (any Sendable)?
  /// A call has ended. Called exactly once for each call that has begun.
  func callEnded(_ call: ObservedCall, _ end: ObservedEnd, _ token: (any Sendable)?)
  /// A connection has become usable.
  func connectionOpened(_ connection: ObservedConnection)
  /// A usable connection has closed, for this reason.
  func connectionClosed(_ connection: ObservedConnection, _ reason: GRPCStatus)
  /// A peer exceeded a limit that well-behaved peers respect, and was stopped. Called every time.
  func peerAbused(_ abuse: PeerAbuse, _ connection: ObservedConnection)
  /// A connection failed before it became usable: a client got no answer, or a handshake failed on either side.
  func connectionFailed(_ connection: ObservedConnection, _ reason: GRPCStatus)
  /// A loop of the server has been blocked for so long, and still is, by a handler or an interceptor of this method; `nil`
  /// if the method is not known. Called for each time that a loop is blocked, not on the loop.
  func loopBlocked(by method: MethodDescriptor?, for time: Duration)
}

extension CallObserver {
  public func callStarted(_ call: ObservedCall) -> (any Sendable)? { nil }
  public func callEnded(_ call: ObservedCall, _ end: ObservedEnd, _ token: (any Sendable)?) {}
  public func connectionOpened(_ connection: ObservedConnection) {}
  public func connectionClosed(_ connection: ObservedConnection, _ reason: GRPCStatus) {}
  public func peerAbused(_ abuse: PeerAbuse, _ connection: ObservedConnection) {}
  public func connectionFailed(_ connection: ObservedConnection, _ reason: GRPCStatus) {}
  public func loopBlocked(by method: MethodDescriptor?, for time: Duration) {}
}

/// A call, as an observer sees it.
public struct ObservedCall: Sendable {
  /// The method called.
  public let method: MethodDescriptor
  /// The metadata at the start of the call.
  public let headers: HPACKHeaders
  /// Whether this is the server's side of the call.
  public let isServer: Bool

  package init(method: MethodDescriptor, headers: HPACKHeaders, isServer: Bool) {
    self.method = method
    self.headers = headers
    self.isServer = isServer
  }
}

/// The end of a call, as an observer sees it.
public struct ObservedEnd: Sendable {
  /// The status with which the call ended on this side.
  public let status: GRPCStatus
  /// What this side sent.
  public let sent: MessageTotals
  /// What this side received.
  public let received: MessageTotals

  package init(status: GRPCStatus, sent: MessageTotals, received: MessageTotals) {
    self.status = status
    self.sent = sent
    self.received = received
  }
}

/// The amount of data sent in one direction of a call.
@frozen
public struct MessageTotals: Sendable, Hashable {
  /// The number of messages.
  public var messages: Int
  /// The bytes of the messages on the wire, compressed if they were, with five bytes of framing each.
  public var bytes: Int

  package init(messages: Int = 0, bytes: Int = 0) {
    self.messages = messages
    self.bytes = bytes
  }
}

/// A connection, as an observer sees it.
public struct ObservedConnection: Sendable {
  /// The peer's address on a server, the target on a client.
  public let peer: String
  /// Whether it uses TLS.
  public let isSecure: Bool
  /// Whether this is the server's side of the connection.
  public let isServer: Bool
  /// The labels of a client's connection in metrics; when it closes, with the reason.
  package var labels: [String: String] = [:]

  package init(peer: String, isSecure: Bool, isServer: Bool) {
    self.peer = peer
    self.isSecure = isSecure
    self.isServer = isServer
  }
}
