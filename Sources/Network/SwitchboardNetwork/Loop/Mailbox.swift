import SwitchboardCall
import Synchronization

/// Work from other threads. It knows whether the loop sleeps, to avoid waking one that is awake.
final class Mailbox: Sendable {
  private struct State {
    var work: [LoopWork] = []
    var isClosed = false
  }

  private let state = Locked(State())
  private let asleep = Atomic(false)
  private let filled = Atomic(false)
  /// The number of threads that are about to wake the loop.
  private let wakers = Atomic(0)

  /// Adds work. If the loop sleeps, calls `wake`, for only one caller per sleep. Returns `false` if the mailbox is
  /// closed.
  func put(_ work: LoopWork, wake: () -> Void) -> Bool {
    let accepted = state.withLock { state in
      guard !state.isClosed else { return false }
      state.work.append(work)
      return true
    }
    guard accepted else { return false }
    filled.store(true, ordering: .sequentiallyConsistent)
    guard asleep.load(ordering: .sequentiallyConsistent) else { return true }
    // The loop may wake up on its own, run the work and end. Its wake-up handle must still exist when `wake` is called.
    wakers.add(1, ordering: .sequentiallyConsistent)
    if asleep.exchange(false, ordering: .sequentiallyConsistent) { wake() }
    wakers.subtract(1, ordering: .sequentiallyConsistent)
    return true
  }

  /// Swaps the entries with the caller's empty array, so that both keep their capacity.
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

  /// Called when the loop is about to block. Returns `false` if work arrived meanwhile.
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

  /// Closes the mailbox, unless it has work or a thread is about to wake the loop. Called by the loop, which is awake,
  /// so later callers do not wake it.
  func close() -> Bool {
    state.withLock { state in
      guard state.work.isEmpty, wakers.load(ordering: .sequentiallyConsistent) == 0 else { return false }
      state.isClosed = true
      return true
    }
  }
}
