/// What a peer does that no well-behaved one does, and that is stopped at a bound: one metric each.
///
/// `docs/ThreatModel.md` says what the bounds are and how each ends.
public enum PeerAbuse: String, Sendable, CaseIterable {
  /// A connection above the server's limit.
  case connectionLimit
  /// The handshakes, of TLS and of HTTP/2, took too long.
  case handshakeTimeout
  /// What should be TLS is not, or no agreement was reached.
  case brokenTLS
  /// Records of TLS that bring no data, without end: changes of keys, alerts, tickets, parts of handshakes, empty ones.
  case recordFlood
  /// What should be HTTP/2 is not.
  case notHTTP2
  /// A rule of HTTP/2 was broken, on a stream or on the connection.
  case protocolViolation
  /// Streams are opened and reset at once, or made to be reset by us, again and again.
  case rapidReset
  /// Settings without end.
  case settingsFlood
  /// Pings, or answers to none, without end; of a client also more than it may send without calls.
  case pingFlood
  /// Priorities without end.
  case priorityFlood
  /// Window updates beyond what was sent to the peer.
  case windowUpdateFlood
  /// Frames of data with nothing in them, without end.
  case emptyDataFlood
  /// Headers in more pieces than headers within the limit need.
  case continuationFlood
  /// Headers of responses that say nothing yet, without end.
  case informationFlood
  /// Frames of types that nobody knows, or farewells, without end.
  case unknownFrameFlood
  /// Frames that ask for answers, which are then not read.
  case unreadAnswers
  /// Headers that were begun and not ended in time.
  case slowHeaders
  /// A request that has to be whole before it is handled, and did not come in time.
  case slowRequest
  /// Headers above the limit.
  case headersTooLarge
  /// Headers that grow so far above the limit, as indexed fields let them, that the connection is closed.
  case headerBomb
  /// More handlers are running than the client may have calls open.
  case tooManyHandlers
  /// The peer did not answer a ping.
  case silence
  /// A message above the limit.
  case messageTooLarge
  /// A message that is not what its prefix says.
  case brokenFraming
  /// A compressed message that is damaged.
  case brokenCompression
  /// A compressed message that would grow above the limit.
  case decompressionBomb
}
