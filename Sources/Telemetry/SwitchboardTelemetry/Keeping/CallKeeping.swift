import SwitchboardCall
import Synchronization

/// What the calls of a telemetry ask: whether somebody keeps calls, and whether a call is to have a timeline.
final class CallKeeping: Sendable {
  /// Weak: who shows the calls keeps them.
  private struct Keeper: Sendable {
    weak var value: (any CallKeeper)?
  }

  private let keeper = Locked(Keeper())
  private let hasKeeper = Atomic(false)
  private let times = Atomic(false)
  /// When the next call may get a timeline, on the clock of calls, if none had got one ahead of its time.
  private let nextTimed = Atomic<UInt64>(0)

  /// How far apart calls with a timeline begin, in nanoseconds, and how many may begin at once.
  private static let interval: UInt64 = 10_000_000
  private static let burst: UInt64 = 100

  var isOn: Bool { hasKeeper.load(ordering: .relaxed) }

  var current: (any CallKeeper)? { isOn ? keeper.withLock(\.value) : nil }

  func set(_ keeper: any CallKeeper) {
    self.keeper.withLock { $0.value = keeper }
    hasKeeper.store(true, ordering: .relaxed)
  }

  /// Whether calls get timelines from now on.
  func setTiming(_ isOn: Bool) { times.store(isOn, ordering: .relaxed) }

  /// Whether calls get timelines. Each call asks this.
  @inline(__always)
  var isTiming: Bool { times.load(ordering: .relaxed) }

  /// Whether a call that begins now gets a timeline: a hundred in a second, so that calls without one are hardly slower.
  func takesTime(at mark: UInt64) -> Bool {
    let due = nextTimed.load(ordering: .relaxed)
    let credit = Self.interval * Self.burst
    let base = max(due, mark > credit ? mark - credit : 0)
    guard base <= mark else { return false }
    return nextTimed.compareExchange(expected: due, desired: base + Self.interval, ordering: .relaxed)
      .exchanged
  }
}
