/// An attempt to connect: finding addresses, then a socket, then the peer's settings.
final class Dialing {
  let started: UInt64
  /// How long after the start the next attempt may begin, should this one fail.
  let backoff: Duration
  var connector: Connector?
  var connection: ClientConnection?
  var timeout: LoopTimer?
  var isOver = false

  init(started: UInt64, backoff: Duration) {
    self.started = started
    self.backoff = backoff
  }
}
