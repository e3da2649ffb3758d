import SwitchboardBalancing
import SwitchboardNetwork

/// A loop's clock and timers, for balancers.
struct LoopTime: BalancerTime {
  let loop: Loop

  var now: Duration { .nanoseconds(Int64(clamping: loop.now)) }

  func schedule(after delay: Duration, _ action: @escaping () -> Void) -> any ScheduledAction {
    let scheduled = ScheduledTimer(loop, LoopTimer(action))
    loop.schedule(scheduled.timer, after: delay)
    return scheduled
  }
}

private final class ScheduledTimer: ScheduledAction {
  private let loop: Loop
  let timer: LoopTimer

  init(_ loop: Loop, _ timer: LoopTimer) {
    self.loop = loop
    self.timer = timer
  }

  func cancel() { loop.cancel(timer) }
}
