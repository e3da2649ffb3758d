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
final class AdaptiveSpin: Sendable {
  /// The maximum time of a spin, in nanoseconds: enough for a peer that must first be woken.
  static let limit: UInt64 = 60_000
  private static let fullTrust = 8
  static let firstTrust = 4
  /// The number of waits per spin when there is no trust.
  static let interval = 64

  private let clock: @Sendable () -> UInt64
  private let trust = Atomic(firstTrust)
  private let waits = Atomic(0)

  /// `clock` returns nanoseconds.
  init(clock: @escaping @Sendable () -> UInt64 = { uv_hrtime() }) {
    self.clock = clock
  }

  /// Spins until `isReady` returns true, if spinning has been successful lately. Returns whether it did.
  func poll(until isReady: () -> Bool) -> Bool {
    guard isWorthwhile else { return false }
    let found = pollAlways(until: isReady)
    remember(found)
    return found
  }

  /// Spins regardless of earlier success.
  func pollAlways(until isReady: () -> Bool) -> Bool {
    let end = clock() + Self.limit
    repeat {
      if isReady() { return true }
      // The peer may need this core.
      sched_yield()
    } while clock() < end
    return false
  }

  private var isWorthwhile: Bool {
    if trust.load(ordering: .relaxed) > 0 { return true }
    return waits.wrappingAdd(1, ordering: .relaxed).newValue % Self.interval == 0
  }

  /// Not atomic: of two simultaneous spins, one may not count.
  private func remember(_ found: Bool) {
    let old = trust.load(ordering: .relaxed)
    let new = found ? min(old + 1, Self.fullTrust) : max(old - 1, 0)
    if new != old { trust.store(new, ordering: .relaxed) }
  }
}
