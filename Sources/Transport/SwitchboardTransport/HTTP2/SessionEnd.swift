/// How a session ends: the steps of a server that accepts no more requests, and the errors in either side's GOAWAY.
///
/// ```
///   no ──begin──> announced ──sent──> asked ──ping answered──> final ──no stream open──> terminated
/// ```
/// There are two announcements, so that no call is lost that the client opens before it reads the first: that one, and,
/// a round trip later, the number of the last stream that was accepted.
struct SessionEnd {
  private enum Draining { case no, announced, asked, final }

  private var draining = Draining.no
  /// The error code of this side's GOAWAY, once it was sent with one.
  private(set) var errorSent: UInt32?
  /// The error code of the peer's GOAWAY, once it was received.
  private(set) var received: UInt32?

  mutating func begin() { draining = .announced }

  /// A GOAWAY was sent. Returns `true` if the peer is to be asked whether it has read the announcement: only now, because
  /// the ping would overtake it.
  mutating func wasSent(_ code: UInt32) -> Bool {
    guard code == 0 else {
      errorSent = code
      return false
    }
    guard draining == .announced else { return false }
    draining = .asked
    return true
  }

  /// The peer has answered. Returns `true` if the last announcement is due.
  mutating func wasAnswered() -> Bool {
    guard draining == .asked else { return false }
    draining = .final
    return true
  }

  /// Whether the session ends with its last stream.
  var isFinal: Bool { draining == .final }

  mutating func wasReceived(_ code: UInt32) { received = code }
}
