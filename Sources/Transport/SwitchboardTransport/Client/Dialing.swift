import SwitchboardNetwork

/// An attempt to connect: looks up a name, connects a socket, requests a tunnel if there is a proxy, and waits for the
/// peer's settings.
final class Dialing {
  let started: UInt64
  /// How long after the start the next attempt may begin if this one fails.
  let backoff: Duration
  /// The legs that have not been tried.
  var legs: ArraySlice<ProxyRoute.Leg>
  /// The leg that is being tried.
  var leg: ProxyRoute.Leg?
  var lookup: NameQuery?
  var connector: Connector?
  var handshake: ProxyHandshake?
  var connection: ClientConnection?
  var timeout: LoopTimer?
  private(set) var isOver = false

  init(started: UInt64, backoff: Duration, legs: [ProxyRoute.Leg] = []) {
    self.started = started
    self.backoff = backoff
    self.legs = legs[...]
  }

  /// Starts the next leg. `nil` if there is none.
  func nextLeg() -> ProxyRoute.Leg? {
    stopLeg()
    leg = legs.popFirst()
    return leg
  }

  private func stopLeg() {
    lookup?.cancel()
    lookup = nil
    connector?.cancel()
    connector = nil
    handshake?.cancel()
    handshake = nil
  }

  func end() {
    isOver = true
    lookup?.cancel()
    lookup = nil
    connector?.cancel()
    handshake?.cancel()
    handshake = nil
  }
}
