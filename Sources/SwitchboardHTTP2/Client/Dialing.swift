/// An attempt to connect: resolving the name, connecting a socket, and waiting for the peer's settings.
final class Dialing {
  let started: UInt64
  /// How long after the start the next attempt may begin if this one fails.
  let backoff: Duration
  var lookup: NameQuery?
  var connector: Connector?
  var connection: ClientConnection?
  var timeout: LoopTimer?
  var isOver = false {
    didSet {
      lookup?.cancel()
      lookup = nil
    }
  }

  init(started: UInt64, backoff: Duration) {
    self.started = started
    self.backoff = backoff
  }
}
