/// Misbehavior of a peer that a limit stops. Each case is counted separately.
///
/// `docs/records/ThreatModel.md` describes the limits and how each is enforced.
public enum PeerAbuse: String, Sendable, CaseIterable {
  /// A connection beyond the server's limit.
  case connectionLimit
  /// The TLS or HTTP/2 handshake took too long.
  case handshakeTimeout
  /// Invalid TLS, or a failed TLS negotiation.
  case brokenTLS
  /// Too many TLS records without data: key updates, alerts, tickets, handshake fragments, empty records.
  case recordFlood
  /// The peer does not speak HTTP/2.
  case notHTTP2
  /// A violation of HTTP/2, on a stream or on the connection.
  case protocolViolation
  /// Too many streams that the peer resets, or makes this side reset.
  case rapidReset
  /// Too many settings frames.
  case settingsFlood
  /// Too many pings or unrequested answers to pings; from a client, also too many pings without calls.
  case pingFlood
  /// Too many priority frames.
  case priorityFlood
  /// Window updates beyond what was sent to the peer.
  case windowUpdateFlood
  /// Too many empty data frames.
  case emptyDataFlood
  /// Headers in more frames than the largest allowed headers need.
  case continuationFlood
  /// Too many informational responses.
  case informationFlood
  /// Too many frames of unknown types, or too many GOAWAY frames.
  case unknownFrameFlood
  /// Frames that require answers, which the peer does not read.
  case unreadAnswers
  /// Large responses that the peer does not read while it makes other calls.
  case unreadResponses
  /// Headers that did not end in time.
  case slowHeaders
  /// A request that must be complete before it is handled, but did not arrive in time.
  case slowRequest
  /// Headers above the limit.
  case headersTooLarge
  /// Headers so far above the limit, through indexed fields, that the connection is closed.
  case headerBomb
  /// More running handlers than the client may have calls, or too many whose calls have ended.
  case tooManyHandlers
  /// The peer did not answer a ping.
  case silence
  /// A message above the limit.
  case messageTooLarge
  /// A message that does not match its prefix.
  case brokenFraming
  /// A corrupt compressed message.
  case brokenCompression
  /// A compressed message that exceeds the limit when decompressed.
  case decompressionBomb
}
