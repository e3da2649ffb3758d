/// Estimates how many bytes are in flight on the link to a peer, which is its bandwidth times its delay. It counts how
/// many bytes arrive while a ping travels there and back. From this it derives a window size that does not limit the
/// throughput.
///
/// ```
///   waiting ──enough arrived, and the pause is over──> measuring ──ping answered──> waiting
///                                                          └──window at its limit──> done
/// ```
/// If nothing arrives, no pings are sent. While a window proves large enough, it is measured less and less often. Times
/// are in nanoseconds on the loop's clock.
struct LinkEstimator {
  private enum State {
    case waiting(until: UInt64)
    case measuring(since: UInt64)
    case done
  }

  private static let shortestPause: UInt64 = 100_000_000
  private static let longestPause: UInt64 = 10_000_000_000
  private static let worthwhileGain = 1.25
  /// If a round trip takes no longer than this, the smallest windows are large enough.
  private static let shortestRoundTrip: UInt64 = 2_000_000

  /// The current window.
  private(set) var window: Int
  private let limit: Int
  private var state: State
  private var arrived = 0
  /// How many bytes must arrive before `shouldPing` is worth calling.
  private var threshold: Int
  private var pause = Self.shortestPause
  /// The rate when the window grew last, in bytes per second.
  private var rateOfWindow = 0.0
  private var wasHeldBack = false

  init(window: Int, limit: Int) {
    self.window = window
    self.limit = limit
    state = window < limit ? .waiting(until: 0) : .done
    threshold = window < limit ? window / 4 : .max
  }

  /// Counts bytes that arrived and were read. Returns `true` if `shouldPing` should be called.
  mutating func add(_ byteCount: Int) -> Bool {
    arrived &+= byteCount
    return arrived >= threshold
  }

  /// Returns whether to send a ping now.
  mutating func shouldPing(now: UInt64) -> Bool {
    arrived = 0
    guard case .waiting(let until) = state, now >= until else { return false }
    state = .measuring(since: now)
    threshold = .max
    return true
  }

  /// Called when the ping was answered. Returns the new window, if it has grown.
  mutating func pingAnswered(now: UInt64) -> Int? {
    guard case .measuring(let since) = state else { return nil }
    let roundTrip = max(1, now - min(now, since))
    let rate = Double(arrived) * 1e9 / Double(roundTrip)
    // A sender that was limited by the window sent at least half of it, because the window is reopened half a window at
    // a time. A larger window must also have increased the rate by more than chance, or it only makes a queue longer.
    // Between processes of one machine, such a queue exceeds all caches, and reduces the speed to a third.
    let isHeldBack =
      arrived >= window / 2 && roundTrip >= Self.shortestRoundTrip
      && rate > rateOfWindow * Self.worthwhileGain
    defer {
      wasHeldBack = isHeldBack && !wasHeldBack
      scheduleNext(now, isHeldBack: isHeldBack)
    }
    // Twice in succession, because once may be due to a peer that was busy with other things.
    guard isHeldBack, wasHeldBack else { return nil }
    rateOfWindow = rate
    window = min(limit, max(window, arrived * 2))
    return window
  }

  private mutating func scheduleNext(_ now: UInt64, isHeldBack: Bool) {
    arrived = 0
    guard window < limit else {
      state = .done
      threshold = .max
      return
    }
    pause = isHeldBack ? Self.shortestPause : min(pause * 2, Self.longestPause)
    state = .waiting(until: isHeldBack ? now : now.addingSaturated(pause))
    threshold = window / 4
  }
}
