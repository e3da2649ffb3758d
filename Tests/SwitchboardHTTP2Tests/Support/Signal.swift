import SwitchboardCall
import Synchronization

/// Something that happens once, and that any number of tasks wait for.
final class Signal: Sendable {
  private struct State {
    var isFired = false
    var waiters: [CheckedContinuation<Void, Never>] = []
  }

  private let state = Locked(State())

  func fire() {
    let waiters = state.withLock { state in
      state.isFired = true
      defer { state.waiters = [] }
      return state.waiters
    }
    for waiter in waiters { waiter.resume() }
  }

  func wait() async {
    await withCheckedContinuation { continuation in
      let isFired = state.withLock { state in
        if !state.isFired { state.waiters.append(continuation) }
        return state.isFired
      }
      if isFired { continuation.resume() }
    }
  }
}

final class Counter: Sendable {
  private let count = Atomic(0)

  func add(_ number: Int) { count.wrappingAdd(number, ordering: .relaxed) }

  var value: Int { count.load(ordering: .relaxed) }
}
