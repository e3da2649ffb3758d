// unsafe: an atomic reference, which owns what it points to until its end

import Synchronization

/// An object that is made when it is first needed, by whichever thread.
///
/// The standard library's `AtomicLazyReference` does the same, but looks its own type up each time, which takes as long as
/// a small field.
struct LazyReference<Object: AnyObject & Sendable>: ~Copyable, Sendable {
  // Holds one reference to the object, from when it is stored.
  private let stored = Atomic<Unmanaged<Object>?>(nil)

  init() {}

  deinit { stored.load(ordering: .acquiring)?.release() }

  /// The object, which `make` makes if there is none yet. If several threads make it, all get the one that was first.
  func object(_ make: () -> Object) -> Object {
    stored.load(ordering: .acquiring)?.takeUnretainedValue() ?? store(make())
  }

  private func store(_ made: Object) -> Object {
    let made = Unmanaged.passRetained(made)
    let (isStored, other) = stored.compareExchange(
      expected: nil,
      desired: made,
      ordering: .acquiringAndReleasing
    )
    guard !isStored, let other else { return made.takeUnretainedValue() }
    made.release()
    return other.takeUnretainedValue()
  }
}
