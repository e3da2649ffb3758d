import SwitchboardCall
import Synchronization

/// Work from other threads. Knows whether its loop sleeps, so that a loop that is awake is not woken.
final class Mailbox: Sendable {
  private struct State {
    var work: [LoopWork] = []
    var isClosed = false
  }

  private let state = Locked(State())
  private let asleep = Atomic(false)
  private let filled = Atomic(false)
  /// How many are about to wake the loop.
  private let wakers = Atomic(0)

  /// Has the loop woken where it sleeps; only one caller is asked to do that per sleep. `false` when the loop takes no more.
  func put(_ work: LoopWork, wake: () -> Void) -> Bool {
    let accepted = state.withLock { state in
      guard !state.isClosed else { return false }
      state.work.append(work)
      return true
    }
    guard accepted else { return false }
    filled.store(true, ordering: .sequentiallyConsistent)
    guard asleep.load(ordering: .sequentiallyConsistent) else { return true }
    // The loop may wake by itself, run the work and be at its end. What it is woken by must not be gone by then.
    wakers.add(1, ordering: .sequentiallyConsistent)
    if asleep.exchange(false, ordering: .sequentiallyConsistent) { wake() }
    wakers.subtract(1, ordering: .sequentiallyConsistent)
    return true
  }

  /// Swaps the entries with the caller's empty array, so that both keep their memory.
  func take(into empty: inout [LoopWork]) {
    guard filled.exchange(false, ordering: .sequentiallyConsistent) else { return }
    var spare: [LoopWork] = []
    swap(&spare, &empty)
    spare = state.withLock { [spare] state in
      defer { state.work = spare }
      return state.work
    }
    swap(&spare, &empty)
  }

  var isFilled: Bool { filled.load(ordering: .relaxed) }

  /// Says that the loop is about to block. `false` when something came meanwhile.
  func fallAsleep() -> Bool {
    asleep.store(true, ordering: .sequentiallyConsistent)
    if filled.load(ordering: .sequentiallyConsistent) {
      asleep.store(false, ordering: .sequentiallyConsistent)
      return false
    }
    return true
  }

  func wakeUp() {
    asleep.store(false, ordering: .sequentiallyConsistent)
  }

  /// Refuses work from now on, unless some is left or somebody is about to wake the loop. By the loop, awake: who comes later
  /// does not wake it.
  func close() -> Bool {
    state.withLock { state in
      guard state.work.isEmpty, wakers.load(ordering: .sequentiallyConsistent) == 0 else { return false }
      state.isClosed = true
      return true
    }
  }
}
