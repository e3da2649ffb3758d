import SwitchboardCall
import SwitchboardText
import Synchronization

/// Shares of traces that somebody has chosen for methods while the process runs, each for some time.
///
/// While there are none, a call pays for one look at a flag.
final class SamplingLevers: Sendable {
  private struct Lever: Sendable {
    let share: Double
    let rule: SamplingRule
    /// By the clock of the telemetry.
    let end: UInt64
  }

  private let clock: TelemetryClock
  private let isAnyPulled = Atomic(false)
  /// By the paths of methods.
  private let levers = Locked<[ExactText: Lever]>([:])

  /// The most methods at once.
  static let most = 100

  init(_ clock: TelemetryClock) { self.clock = clock }

  @inline(__always)
  var arePulled: Bool { isAnyPulled.load(ordering: .relaxed) }

  /// The rule for a method; `nil` if that of the options holds.
  @inline(never)
  func rule(for method: MethodDescriptor) -> SamplingRule? {
    let now = clock.now
    return levers.withLock { levers in
      guard let lever = levers[method.path] else { return nil }
      guard lever.end > now else {
        levers[method.path] = nil
        isAnyPulled.store(!levers.isEmpty, ordering: .relaxed)
        return nil
      }
      return lever.rule
    }
  }

  /// Records this share of a method's traces for some time, or again that of the options. Returns `false` if there are too many.
  func pull(_ path: String, to share: Double?, for time: Duration) -> Bool {
    let now = clock.now
    return levers.withLock { levers in
      levers = levers.filter { $0.value.end > now }
      defer { isAnyPulled.store(!levers.isEmpty, ordering: .relaxed) }
      guard let share else {
        levers[path] = nil
        return true
      }
      guard levers[path] != nil || levers.count < Self.most else { return false }
      let nanoseconds = UInt64(max(0, time / .nanoseconds(1)))
      levers[path] = Lever(share: share, rule: SamplingRule(.ratio(share)), end: now &+ nanoseconds)
      return true
    }
  }

  /// What holds now.
  var pulled: [PulledLever] {
    let now = clock.now
    return levers.withLock { levers in
      levers.filter { $0.value.end > now }.map { path, lever in
        PulledLever(path: path.text, share: lever.share, left: .nanoseconds(Int64(clamping: lever.end - now)))
      }
    }
  }
}

/// A method of which another share of traces is recorded for some time.
package struct PulledLever: Sendable {
  package let path: String
  package let share: Double
  /// How long that still holds.
  package let left: Duration
}
