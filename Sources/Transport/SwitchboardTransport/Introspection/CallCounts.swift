import SwitchboardNetwork

/// The number of calls, and their results.
package struct CallCounts: Sendable, Hashable {
  /// All calls, including those in progress.
  package internal(set) var started = 0
  /// Calls that ended with the status OK.
  package internal(set) var succeeded = 0
  /// Calls that ended with another status, or without one.
  package internal(set) var failed = 0
  /// The start of the latest call, with millisecond precision; `nil` before the first.
  package internal(set) var lastStarted: ContinuousClock.Instant?

  mutating func add(_ totals: CallTotals, by clock: LoopClock) {
    started += totals.started
    succeeded += totals.succeeded
    failed += totals.failed
    guard let time = clock.instant(of: totals.lastStarted) else { return }
    lastStarted = lastStarted.map { max($0, time) } ?? time
  }
}

/// Converts the times of a loop's clock to instants of the continuous clock.
struct LoopClock {
  private let loopNow: UInt64
  private let now = ContinuousClock.now

  init(_ loop: Loop) {
    loopNow = loop.now
  }

  /// `nil` for zero, which means never.
  func instant(of time: UInt64) -> ContinuousClock.Instant? {
    guard time > 0 else { return nil }
    return now - .nanoseconds(Int64(clamping: loopNow - min(time, loopNow)))
  }
}
