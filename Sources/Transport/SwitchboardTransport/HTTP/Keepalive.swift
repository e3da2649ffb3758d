import SwitchboardCall

/// Detects a silent peer: if no bytes arrive from it for some time, it is pinged.
///
/// ```
///   watching ──nothing read for the interval──> pinged ──nothing read for the timeout──> dead
///       ^───────────────something was read────────┘
/// ```
/// Times are on the loop's clock, in nanoseconds.
struct Keepalive {
  private enum State {
    case watching
    case pinged(at: UInt64)
  }

  enum Action: Equatable {
    /// Call `check` again after this many nanoseconds.
    case wait(UInt64)
    /// Send a ping, and call `check` again after this many nanoseconds.
    case ping(UInt64)
    case close
  }

  let interval: UInt64
  private let timeout: UInt64
  private var state = State.watching

  init(interval: Duration, timeout: Duration) {
    self.interval = interval.nanoseconds
    self.timeout = timeout.nanoseconds
  }

  /// Decides what to do when bytes last arrived at `lastRead`. An idle connection that need not be checked waits.
  mutating func check(now: UInt64, lastRead: UInt64, isIdle: Bool) -> Action {
    if case .pinged(let pingTime) = state {
      guard lastRead > pingTime else { return .close }
      state = .watching
    }
    if isIdle { return .wait(interval) }
    let silence = now > lastRead ? now - lastRead : 0
    guard silence >= interval else { return .wait(interval - silence) }
    state = .pinged(at: now)
    return .ping(timeout)
  }
}
