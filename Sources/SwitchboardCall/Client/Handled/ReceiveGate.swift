/// Lets as many messages through as were asked for.
final class ReceiveGate: Sendable {
  private struct State {
    var isOpen: Bool
    var asked = 0
    var waiter: CheckedContinuation<Void, Never>?

    /// Counts one that goes through, if it may.
    mutating func pass() -> Bool {
      if isOpen { return true }
      guard asked > 0 else { return false }
      if asked != .max { asked -= 1 }
      return true
    }

    mutating func passWaiter() -> CheckedContinuation<Void, Never>? {
      guard waiter != nil, pass() else { return nil }
      defer { waiter = nil }
      return waiter
    }
  }

  private let state: Locked<State>

  /// One that is open lets everything through.
  init(isOpen: Bool) {
    state = Locked(State(isOpen: isOpen))
  }

  func ask(for count: Int) {
    let waiter: CheckedContinuation<Void, Never>? = state.withLock { state in
      let (sum, overflow) = state.asked.addingReportingOverflow(count)
      state.asked = overflow ? .max : sum
      return state.passWaiter()
    }
    waiter?.resume()
  }

  /// Lets everything through from now on.
  func open() {
    let waiter: CheckedContinuation<Void, Never>? = state.withLock { state in
      state.isOpen = true
      return state.passWaiter()
    }
    waiter?.resume()
  }

  /// Waits until a message may go through. Only one may wait.
  func pass() async {
    await withCheckedContinuation { continuation in
      let passes = state.withLock { state in
        if state.pass() { return true }
        state.waiter = continuation
        return false
      }
      if passes { continuation.resume() }
    }
  }
}
