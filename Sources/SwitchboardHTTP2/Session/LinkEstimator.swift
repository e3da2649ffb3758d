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
  private static let worthwhileGain = 1.25
  /// Where a round trip takes no longer, the smallest windows are large enough.
  private static let shortestRoundTrip: UInt64 = 2_000_000

  /// What the window is now.
  private(set) var window: Int
  private let limit: Int
  private var state: State
  private var arrived = 0
  /// How much is to arrive before `look` is worth calling.
  private var threshold: Int
  private var pause = Self.shortestPause
  /// The rate when the window last grew, in bytes a second.
  private var rateOfWindow = 0.0
  private var wasHeldBack = false

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
    let roundTrip = max(1, now - min(now, since))
    let rate = Double(arrived) * 1e9 / Double(roundTrip)
    // A sender that the window held back sent at least half of it, since half a window is what we give back at
    // once; and a larger window must have helped so far by more than chance, or it only makes a queue somewhere.
    // Between processes of one machine that queue is one that no cache holds, at a third of the speed.
    let isHeldBack =
      arrived >= window / 2 && roundTrip >= Self.shortestRoundTrip
      && rate > rateOfWindow * Self.worthwhileGain
    defer {
      wasHeldBack = isHeldBack && !wasHeldBack
      rest(now, isHeldBack: isHeldBack)
    }
    // Twice in a row: once may be a peer that was busy elsewhere.
    guard isHeldBack, wasHeldBack else { return nil }
    rateOfWindow = rate
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
