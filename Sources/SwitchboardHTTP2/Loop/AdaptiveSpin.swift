import CLibuv
import Synchronization

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// Decides whether one who waits for a peer keeps looking for a moment before it blocks.
///
/// To block and to be woken on another core takes some 30 µs, more than a peer that is awake needs to answer, and
/// processor time on both sides. So a short look pays where answers come fast, and only there: each look that was
/// in vain costs trust, each that was not earns some, and without trust there is but one look in many waits.
final class AdaptiveSpin: Sendable {
  /// How long a look may take, in nanoseconds: enough for a peer that must be woken first.
  static let limit: UInt64 = 60_000
  private static let fullTrust = 8
  static let firstTrust = 4
  /// How many waits there are to a look where there is no trust.
  static let interval = 64

  private let clock: @Sendable () -> UInt64
  private let trust = Atomic(firstTrust)
  private let waits = Atomic(0)

  /// The clock is in nanoseconds.
  init(clock: @escaping @Sendable () -> UInt64 = { uv_hrtime() }) {
    self.clock = clock
  }

  /// Looks, if that has been worth while of late. `true` when what was looked for is there.
  func look(for isThere: () -> Bool) -> Bool {
    guard isWorthALook else { return false }
    let found = insist(on: isThere)
    remember(found)
    return found
  }

  /// Looks, whether that has been worth while or not.
  func insist(on isThere: () -> Bool) -> Bool {
    let end = clock() + Self.limit
    repeat {
      if isThere() { return true }
      // Whom we wait for may need this core.
      sched_yield()
    } while clock() < end
    return false
  }

  private var isWorthALook: Bool {
    if trust.load(ordering: .relaxed) > 0 { return true }
    return waits.wrappingAdd(1, ordering: .relaxed).newValue % Self.interval == 0
  }

  /// Of two looks at the same time one may be forgotten.
  private func remember(_ found: Bool) {
    let old = trust.load(ordering: .relaxed)
    let new = found ? min(old + 1, Self.fullTrust) : max(old - 1, 0)
    if new != old { trust.store(new, ordering: .relaxed) }
  }
}
