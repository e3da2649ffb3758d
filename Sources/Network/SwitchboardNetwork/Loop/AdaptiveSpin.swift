import CLibuv
import Synchronization

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// Decides whether a thread that waits for a peer spins for a moment before it blocks.
///
/// Blocking and being woken on another core takes some 30 µs, more than a peer that is awake needs to respond, and
/// processor time on both sides. So a short spin pays off only if responses are fast: each spin in vain lowers the
/// trust, each successful one raises it, and without trust only one in many waits spins.
///
/// A thread must not spin if others want its core: it would use up its share of it, and then have to wait when it has
/// something to do. No call tells this cheaply, but a spin notices when another thread had the core meanwhile, or when
/// the system suspended the process because its quota was exhausted. After that there is no trust, and few waits spin.
package final class AdaptiveSpin: Sendable {
  /// The maximum time of a spin, in nanoseconds: enough for a peer that must first be woken.
  static let limit: UInt64 = 60_000
  /// A spin that was not interrupted looks at the clock more often than this, in nanoseconds.
  static let interruption: UInt64 = 200_000
  private static let fullTrust = 8
  static let firstTrust = 4
  /// The number of waits per spin when there is no trust: usually, and after several interruptions without a success.
  static let intervals = 64...4096

  private let clock: @Sendable () -> UInt64
  // Not changed atomically: of two simultaneous spins, one may not count.
  private let trust = Atomic(firstTrust)
  private let interval = Atomic(intervals.lowerBound)
  private let waits = Atomic(0)

  /// `clock` returns nanoseconds.
  package init(clock: @escaping @Sendable () -> UInt64 = { uv_hrtime() }) {
    self.clock = clock
  }

  /// Spins until `isReady` returns true, if spinning has been successful lately. Returns whether it did.
  package func poll(until isReady: () -> Bool) -> Bool {
    guard isWorthwhile else { return false }
    let result = spin(until: isReady)
    remember(result)
    return result == .success
  }

  /// Spins regardless of earlier success.
  package func pollAlways(until isReady: () -> Bool) -> Bool { spin(until: isReady) == .success }

  private enum Result {
    case success, inVain, interrupted
  }

  private func spin(until isReady: () -> Bool) -> Result {
    var now = clock()
    let end = now + Self.limit
    while !isReady() {
      // The peer may need this core.
      sched_yield()
      let last = now
      now = clock()
      if now >= end { return now - last < Self.interruption ? .inVain : .interrupted }
    }
    return .success
  }

  private var isWorthwhile: Bool {
    if trust.load(ordering: .relaxed) > 0 { return true }
    let waits = waits.wrappingAdd(1, ordering: .relaxed).newValue
    return waits % interval.load(ordering: .relaxed) == 0
  }

  private func remember(_ result: Result) {
    let trust = trust.load(ordering: .relaxed)
    let interval = interval.load(ordering: .relaxed)
    switch result {
    // Beside a busy process, some spins succeed before they yield: they must not make up for those that do.
    case .success: set(trust: min(trust + 1, Self.fullTrust), interval: interval / 2)
    case .inVain: set(trust: max(trust - 1, 0), interval: interval)
    case .interrupted: set(trust: 0, interval: interval * 4)
    }
  }

  /// Only stores what changes, because threads that make calls share the values.
  private func set(trust: Int, interval: Int) {
    let interval = min(max(interval, Self.intervals.lowerBound), Self.intervals.upperBound)
    if trust != self.trust.load(ordering: .relaxed) { self.trust.store(trust, ordering: .relaxed) }
    if interval != self.interval.load(ordering: .relaxed) {
      self.interval.store(interval, ordering: .relaxed)
    }
  }
}
