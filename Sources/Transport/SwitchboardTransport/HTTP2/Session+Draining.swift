import CNghttp2

/// The end of a server's connection that accepts no more requests.
extension Session {
  /// ```
  ///   no ──startDraining──> announced ──sent──> asked ──ping answered──> final ──no stream open──> terminated
  /// ```
  /// There are two steps, so that no call is lost that the client opens before it reads the announcement: the
  /// announcement, and, one round trip later, the number of the last stream that was accepted.
  enum Draining { case no, announced, asked, final }

  /// Streams that are already on their way are still accepted.
  func startDraining() {
    draining = .announced
    nghttp2_submit_shutdown_notice(raw)
  }

  /// Called when a GOAWAY without an error was sent. The ping follows only now, because it would overtake the
  /// announcement.
  func goAwayWasSent() {
    guard draining == .announced else { return }
    draining = .asked
    ping(PingPayload.draining)
  }

  func pingWasAnswered(_ payload: UInt64) {
    if takeMeasurement(payload, now: delegate?.sessionNow ?? 0) { return }
    guard payload == PingPayload.draining, draining == .asked else { return }
    draining = .final
    goAway(.noError)
    endIfDrained()
  }

  /// Called when a stream has closed.
  func endIfDrained() {
    if draining == .final, streams.count == 0 { terminate(.noError) }
  }
}
