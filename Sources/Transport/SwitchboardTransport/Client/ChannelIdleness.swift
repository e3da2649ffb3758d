import SwitchboardNetwork

/// When a channel was last used, and the timer that looks whether it is to go idle.
///
/// ```
///   in use ──the last use ends──> unused, with a timer ──the idle timeout──> idle
///      ^───────────a call─────────────────┘
/// ```
struct ChannelIdleness {
  private var lastUse: UInt64 = 0
  private(set) var timer: LoopTimer?

  /// A use has ended. Returns `true` if nothing waits for the timeout yet.
  mutating func useEnded(at time: UInt64) -> Bool {
    lastUse = time
    return timer == nil
  }

  /// Waits until the channel may have been unused for the timeout.
  mutating func wait(_ timer: LoopTimer, timeout: Duration, on loop: Loop) {
    self.timer = timer
    let unused = loop.now - min(loop.now, lastUse)
    loop.schedule(timer, after: timeout - .nanoseconds(Int64(clamping: unused)))
  }

  mutating func timerFired() { timer = nil }

  /// Whether the timeout has passed since the last use.
  func isDue(after timeout: Duration, at now: UInt64) -> Bool {
    now >= lastUse.addingSaturated(timeout.nanoseconds)
  }

  func cancel(on loop: Loop) { if let timer { loop.cancel(timer) } }
}
