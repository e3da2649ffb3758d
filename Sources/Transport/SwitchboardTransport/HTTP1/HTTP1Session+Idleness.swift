import SwitchboardCall
import SwitchboardNetwork

/// How long a connection waits for its client.
extension HTTP1Session {
  /// Limits the time between exchanges, the last of which may have ended now. The connection limits the time of a header
  /// section.
  func watchIdleness(isUsed: Bool = false) {
    guard isIdle else { return }
    guard idleTimer == nil else {
      if isUsed { idleSince = connection.loop.now }
      return
    }
    idleSince = connection.loop.now
    startIdleTimer(idleTimeout)
  }

  private var isIdle: Bool { stream == nil && !isOver && !isInsideHeaders }

  /// The timer continues during exchanges, and starts again if the connection was used.
  private func startIdleTimer(_ time: Duration) {
    startTimer(time) { [weak self] in
      guard let self else { return }
      guard isIdle else { return startIdleTimer(idleTimeout) }
      let now = connection.loop.now
      let left = idleTimeout - .nanoseconds(now - min(now, idleSince))
      if left > .zero { startIdleTimer(left) } else { connection.close(.exchangesOver, gently: true) }
    }
  }

  /// How long a client may wait for responses after it has ended its side. It may also be gone, which shows only when
  /// something is sent to it.
  private static var halfClosedTime: Duration { .seconds(5) }

  func peerDidEnd() -> Bool {
    guard !isOver, owesResponse else { return false }
    isHalfClosed = true
    stopIdleTimer()
    startTimer(Self.halfClosedTime) { [weak self] in self?.connection.close(.connectionLost) }
    return true
  }

  private func startTimer(_ time: Duration, _ action: @escaping () -> Void) {
    let timer = LoopTimer { [weak self] in
      self?.idleTimer = nil
      action()
    }
    idleTimer = timer
    connection.loop.schedule(timer, after: time)
  }

  func stopIdleTimer() {
    guard let timer = idleTimer else { return }
    connection.loop.cancel(timer)
    idleTimer = nil
  }
}

extension GRPCStatus {
  static let answerNotTaken = GRPCStatus(
    code: .unavailable,
    message: "the client did not read a response before its deadline",
    origin: .peer
  )
  static let exchangesOver = GRPCStatus(
    code: .unavailable,
    message: "the HTTP/1.1 connection has served its calls",
    origin: .library
  )
}
