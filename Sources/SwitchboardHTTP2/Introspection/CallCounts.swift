/// How many calls there were, and how they ended.
public struct CallCounts: Sendable, Hashable {
  /// All of them, those included that are under way.
  public internal(set) var started = 0
  /// Those that ended with the status OK.
  public internal(set) var succeeded = 0
  /// Those that ended with any other status, or without one.
  public internal(set) var failed = 0
  /// When the latest began, to the millisecond or so; `nil` before the first.
  public internal(set) var lastStarted: ContinuousClock.Instant?

  mutating func add(_ totals: CallTotals, by clock: LoopClock) {
    started += totals.started
    succeeded += totals.succeeded
    failed += totals.failed
    guard let time = clock.instant(of: totals.lastStarted) else { return }
    lastStarted = lastStarted.map { max($0, time) } ?? time
  }
}

/// Tells times of a loop's clock by the clock that others know.
struct LoopClock {
  private let loopNow: UInt64
  private let now = ContinuousClock.now

  init(_ loop: Loop) {
    loopNow = loop.now
  }

  /// `nil` for zero, which is never.
  func instant(of time: UInt64) -> ContinuousClock.Instant? {
    guard time > 0 else { return nil }
    return now - .nanoseconds(Int64(clamping: loopNow - min(time, loopNow)))
  }
}
