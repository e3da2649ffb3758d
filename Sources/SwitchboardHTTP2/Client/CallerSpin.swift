import Synchronization

/// Decides whether a caller that is not on the loop looks for its answer for a moment before it is suspended.
///
/// A caller that looks keeps a thread of the global pool, of which there are few. So only one that calls again and
/// again while nobody else does may look, and after some looks it is suspended all the same: if
/// others wait for its thread, they then call too, and nobody looks any more. There is one of these in a process,
/// as there is one pool.
final class CallerSpin: Sendable {
  static let ofProcess = CallerSpin()

  /// Of so many waits in a row the last is without a look.
  static let waitsInARow = 32

  private let spin: AdaptiveSpin
  private let lastCaller = Atomic(0)
  private let waits = Atomic(0)

  init(_ spin: AdaptiveSpin = AdaptiveSpin()) {
    self.spin = spin
  }

  /// Called by a task that would be suspended next; does nothing, or returns when what it waits for is there, or
  /// has not come soon. Where it is `urgent`, it is looked for even if that was in vain of late.
  func look(urgent: Bool, for isThere: () -> Bool) {
    let caller = withUnsafeCurrentTask { $0?.hashValue } ?? 0
    guard lastCaller.load(ordering: .relaxed) == caller else {
      lastCaller.store(caller, ordering: .relaxed)
      return
    }
    let count = waits.wrappingAdd(1, ordering: .relaxed).newValue
    guard count % Self.waitsInARow != 0 else { return }
    _ = urgent ? spin.insist(on: isThere) : spin.look(for: isThere)
  }
}
