import SwitchboardCall
import Synchronization

/// Work from other threads. Knows whether its loop sleeps, so that a loop that is awake is not woken.
final class Mailbox: Sendable {
  private struct State {
    var work: [LoopWork] = []
    var isClosed = false
  }

  enum Delivery {
    case accepted
    case acceptedAsleep
    case refused
  }

  private let state = Locked(State())
  private let asleep = Atomic(false)
  private let filled = Atomic(false)

  /// `acceptedAsleep` asks the caller to wake the loop; only one caller is asked per sleep.
  func put(_ work: LoopWork) -> Delivery {
    let accepted = state.withLock { state in
      guard !state.isClosed else { return false }
      state.work.append(work)
      return true
    }
    guard accepted else { return .refused }
    filled.store(true, ordering: .sequentiallyConsistent)
    let sleeping = asleep.load(ordering: .sequentiallyConsistent)
    return sleeping && asleep.exchange(false, ordering: .sequentiallyConsistent) ? .acceptedAsleep : .accepted
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

  /// Refuses work from now on, unless some is left.
  func close() -> Bool {
    state.withLock { state in
      guard state.work.isEmpty else { return false }
      state.isClosed = true
      return true
    }
  }
}
