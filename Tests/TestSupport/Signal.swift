import SwitchboardCall
import Synchronization

/// An event that happens once and that any number of tasks can wait for.
package final class Signal: Sendable {
  private struct State {
    var isFired = false
    var waiters: [CheckedContinuation<Void, Never>] = []
  }

  private let state = Locked(State())

  package init() {}

  package func fire() {
    let waiters = state.withLock { state in
      state.isFired = true
      defer { state.waiters = [] }
      return state.waiters
    }
    for waiter in waiters { waiter.resume() }
  }

  package func wait() async {
    await withCheckedContinuation { continuation in
      let isFired = state.withLock { state in
        if !state.isFired { state.waiters.append(continuation) }
        return state.isFired
      }
      if isFired { continuation.resume() }
    }
  }
}

/// Counts violations by peers, as an operator's metrics would.
package final class AbuseRecorder: CallObserver {
  private struct State {
    var counts: [PeerAbuse: Int] = [:]
    var waiters: [(PeerAbuse, CheckedContinuation<Void, Never>)] = []
  }

  private let state = Locked(State())

  package init() {}

  package func peerAbused(_ abuse: PeerAbuse, _ connection: ObservedConnection) {
    let woken = state.withLock { state in
      state.counts[abuse, default: 0] += 1
      let woken = state.waiters.filter { $0.0 == abuse }
      state.waiters.removeAll { $0.0 == abuse }
      return woken
    }
    for (_, waiter) in woken { waiter.resume() }
  }

  /// Returns once this was reported, or when the test is cancelled.
  package func wait(for abuse: PeerAbuse) async {
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let mustWait = state.withLock { state in
          guard state.counts[abuse] == nil, !Task.isCancelled else { return false }
          state.waiters.append((abuse, continuation))
          return true
        }
        if !mustWait { continuation.resume() }
      }
    } onCancel: {
      let waiters = state.withLock { state in
        defer { state.waiters = [] }
        return state.waiters
      }
      for (_, waiter) in waiters { waiter.resume() }
    }
  }

  package var counts: [PeerAbuse: Int] { state.withLock { $0.counts } }
}

package final class Counter: Sendable {
  private let count = Atomic(0)

  package init() {}

  package func add(_ number: Int) { count.wrappingAdd(number, ordering: .relaxed) }

  package var value: Int { count.load(ordering: .relaxed) }
}
