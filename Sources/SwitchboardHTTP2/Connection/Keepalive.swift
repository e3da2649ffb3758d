/// Notices a peer that has gone silent: after a time without a byte from it, it is asked for a sign of
/// life.
///
/// ```
///   watching ──nothing read for the interval──> asked ──nothing read for the timeout──> dead
///       ^───────────────something was read───────┘
/// ```
/// Times are on the loop's clock, in nanoseconds.
struct Keepalive {
  private enum State {
    case watching
    case asked(at: UInt64)
  }

  enum Action: Equatable {
    /// Look again after this many nanoseconds.
    case wait(UInt64)
    /// Send a ping, then look again after this many nanoseconds.
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

  /// What to do now, when bytes last came at `lastRead`. An idle connection that needs no watching waits.
  mutating func look(now: UInt64, lastRead: UInt64, isIdle: Bool) -> Action {
    if case .asked(let asked) = state {
      guard lastRead > asked else { return .close }
      state = .watching
    }
    if isIdle { return .wait(interval) }
    let silence = now > lastRead ? now - lastRead : 0
    guard silence >= interval else { return .wait(interval - silence) }
    state = .asked(at: now)
    return .ping(timeout)
  }
}
