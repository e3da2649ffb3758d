import SwitchboardCall

/// A loop's clock, which tests advance, as the clock of the calls on the loop: deadlines are made by it, and the loop's
/// timers keep them.
package struct CallClock: CallTime {
  let loop: Loop

  package var now: ContinuousClock.Instant { .now.advanced(by: offset) }

  package func sleep(until time: ContinuousClock.Instant) async throws {
    try await sleep(until: time, on: loop)
  }

  package func sleep(until time: ContinuousClock.Instant, on loop: any EventLoop) async throws {
    // The system's time at which this clock will show `time`, unless it is advanced.
    try await SystemTime().sleep(until: time.advanced(by: .zero - offset), on: loop)
  }

  private var offset: Duration { .nanoseconds(Int64(clamping: loop.clockOffset)) }
}

extension Loop {
  var clockOffset: UInt64 { advance.load(ordering: .relaxed) }

  package var clock: CallClock { CallClock(loop: self) }

  /// Starts a timer for a deadline that this clock made. Returns `nil` if the deadline has passed.
  package func startTimer(at deadline: CallDeadline, _ action: @escaping () -> Void) -> LoopTimer? {
    let timeLeft = deadline.timeLeft(by: clock)
    guard timeLeft > .zero else { return nil }
    let timer = LoopTimer(action)
    schedule(timer, after: timeLeft)
    return timer
  }
}
