import CNghttp2

/// The end of a server's connection that accepts no more requests; `SessionEnd` has its steps.
extension Session {
  /// Streams that are already on their way are still accepted.
  func startDraining() {
    end.begin()
    nghttp2_submit_shutdown_notice(raw)
  }

  func pingWasAnswered(_ payload: UInt64) {
    if takeMeasurement(payload, now: delegate?.sessionNow ?? 0) { return }
    guard payload == PingPayload.draining, end.wasAnswered() else { return }
    goAway(.noError)
    endIfDrained()
  }

  /// Called when a stream has closed.
  func endIfDrained() {
    if end.isFinal, streams.count == 0 { terminate(.noError) }
  }
}
