// unsafe: asks which task it is called by, and compares

import SwitchboardNetwork
import Synchronization

/// Decides whether a caller outside the loop spins for its response before it suspends.
///
/// A caller that spins occupies a thread of the global pool, which has only a few. So a caller may spin only if it
/// makes one call after another and no other caller makes any. From time to time it suspends all the same, so that
/// others that wait for its thread can make calls; then no caller spins any more. There is one instance per process,
/// because there is one pool.
final class CallerSpin: Sendable {
  static let ofProcess = CallerSpin()

  /// Of this many consecutive waits, the last one does not spin.
  static let waitsInARow = 32

  private let spin: AdaptiveSpin
  private let lastCaller = Atomic(0)
  private let waits = Atomic(0)

  init(_ spin: AdaptiveSpin = AdaptiveSpin()) {
    self.spin = spin
  }

  /// Called by a task that is about to suspend. Returns when the result has arrived, after a short time, or at once. If
  /// `urgent` is true, it spins even if recent spins were unsuccessful.
  func poll(urgent: Bool, until isReady: () -> Bool) {
    let caller = withUnsafeCurrentTask { $0?.hashValue } ?? 0
    guard lastCaller.load(ordering: .relaxed) == caller else {
      lastCaller.store(caller, ordering: .relaxed)
      return
    }
    let count = waits.wrappingAdd(1, ordering: .relaxed).newValue
    guard count % Self.waitsInARow != 0 else { return }
    _ = urgent ? spin.pollAlways(until: isReady) : spin.poll(until: isReady)
  }
}
