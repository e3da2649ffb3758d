/// Estimates how much the link to a peer holds, its bandwidth times its delay, from how much arrives while a ping
/// is on its way there and back; and how large a window should be so as not to be what limits it.
///
/// ```
///   resting ──enough arrived, and the pause is over──> measuring ──ping answered──> resting
///                                                          └──window at its limit──> done
/// ```
/// Nothing arriving means no pings, so that an idle connection is left alone; a window that proves large enough is
/// looked at less and less often. Times are in nanoseconds on the loop's clock.
struct LinkEstimator {
  private enum State {
    case resting(until: UInt64)
    case measuring(since: UInt64)
    case done
  }

  private static let shortestPause: UInt64 = 100_000_000
  private static let longestPause: UInt64 = 10_000_000_000

  /// What the window is now.
  private(set) var window: Int
  private let limit: Int
  private var state: State
  private var arrived = 0
  /// How much is to arrive before `look` is worth calling.
  private var threshold: Int
  private var pause = Self.shortestPause
  /// The highest rate so far, in bytes a second.
  private var bestRate = 0.0

  init(window: Int, limit: Int) {
    self.window = window
    self.limit = limit
    state = window < limit ? .resting(until: 0) : .done
    threshold = window < limit ? window / 4 : .max
  }

  /// Counts what arrived and was read. `true` when `look` should be called.
  mutating func add(_ byteCount: Int) -> Bool {
    arrived &+= byteCount
    return arrived >= threshold
  }

  /// Whether to send a ping now.
  mutating func look(now: UInt64) -> Bool {
    arrived = 0
    guard case .resting(let until) = state, now >= until else { return false }
    state = .measuring(since: now)
    threshold = .max
    return true
  }

  /// The ping was answered. Returns the window to use from now on, when that has grown.
  mutating func pingAnswered(now: UInt64) -> Int? {
    guard case .measuring(let since) = state else { return nil }
    let rate = Double(arrived) * 1e9 / Double(max(1, now - min(now, since)))
    // A sender that the window held back sent at least half of it, since half a window is what we give back at
    // once; and a larger window must have helped so far, or it only makes a queue somewhere.
    let isHeldBack = arrived >= window / 2 && rate > bestRate
    bestRate = max(bestRate, rate)
    defer { rest(now, isHeldBack: isHeldBack) }
    guard isHeldBack else { return nil }
    window = min(limit, max(window, arrived * 2))
    return window
  }

  private mutating func rest(_ now: UInt64, isHeldBack: Bool) {
    arrived = 0
    guard window < limit else {
      state = .done
      threshold = .max
      return
    }
    pause = isHeldBack ? Self.shortestPause : min(pause * 2, Self.longestPause)
    state = .resting(until: isHeldBack ? now : now.addingSaturated(pause))
    threshold = window / 4
  }
}
