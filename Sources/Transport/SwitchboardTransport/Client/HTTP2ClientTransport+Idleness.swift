import SwitchboardCall
import SwitchboardNetwork

/// A channel that is not used goes idle: it closes its connections, and resolves its name again for the next call.
extension HTTP2ClientTransport {
  /// Whether no call is in progress, or waits to begin. Call on the loop.
  package var isUnused: Bool { calls.inProgress == 0 && !awaitsConfig }

  func callEnded(_ status: GRPCStatus) {
    calls.callEnded(isOk: status.isOk)
    if calls.inProgress == 0 { wasUsed(at: loop.turnTime) }
  }

  /// A use has ended, or the channel was woken.
  func wasUsed(at time: UInt64) {
    if idleness.useEnded(at: time) { watchForIdleness() }
  }

  /// Waits until the channel has been unused for the idle timeout. While it is in use, nothing waits: the end of the last
  /// use calls this again.
  private func watchForIdleness() {
    guard let timeout = options.idleTimeout, state != .idle, state != .shutdown, isUnused else { return }
    let timer = LoopTimer { [weak self] in
      guard let self else { return }
      idleness.timerFired()
      if isUnused, idleness.isDue(after: timeout, at: loop.now) {
        balancer.goIdle()
      } else {
        watchForIdleness()
      }
    }
    idleness.wait(timer, timeout: timeout, on: loop)
  }
}
