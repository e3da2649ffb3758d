import SwitchboardCall
import SwitchboardNetwork

extension Connection {
  /// Checks after `delay`, and then again and again, whether the peer is silent.
  func watchKeepalive(after delay: Duration) {
    let timer = LoopTimer { self.actOnSilence() }
    keepaliveTimer = timer
    loop.schedule(timer, after: delay)
  }

  private func actOnSilence() {
    switch checkSilence() {
    case nil: keepaliveTimer = nil
    case .wait(let time): watchKeepalive(after: .nanoseconds(Int64(clamping: time)))
    case .close:
      report(.silence)
      close(.keepaliveTimeout)
    case .ping(let time):
      http2?.ping(PingPayload.keepalive)
      counters.keepalivesSent += 1
      setNeedsFlush()
      watchKeepalive(after: .nanoseconds(Int64(clamping: time)))
    }
  }
}

extension GRPCStatus {
  static let keepaliveTimeout = GRPCStatus(
    code: .unavailable,
    message: "the peer has not answered a keepalive ping",
    origin: .peer
  )
}
