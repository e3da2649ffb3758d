/// How many more messages the other side wants, for the one task that sends them.
final class MessageCredit: Sendable {
  private struct State: Sendable {
    var count = 0
    var isOpen = true
    var waiter: UnsafeContinuation<Void, Never>?
  }

  private let state = Locked(State())

  func add(_ count: Int) {
    resume { state in
      let (sum, overflow) = state.count.addingReportingOverflow(max(0, count))
      state.count = overflow ? .max : sum
    }
  }

  /// Nobody waits any more.
  func close() { resume { $0.isOpen = false } }

  private func resume(_ change: (inout State) -> Void) {
    let waiter = state.withLock { state in
      change(&state)
      defer { state.waiter = nil }
      return state.waiter
    }
    waiter?.resume()
  }

  /// Waits until a message is wanted. Throws once the call is over.
  func take() async throws {
    while true {
      let hasTaken = state.withLock { state in
        guard state.count > 0 else { return false }
        state.count -= 1
        return true
      }
      if hasTaken { return }
      if !state.withLock({ $0.isOpen }) { throw GRPCStatus.callEnded }
      await withUnsafeContinuation { waiting in
        let mustWait = state.withLock { state in
          guard state.count == 0, state.isOpen else { return false }
          state.waiter = waiting
          return true
        }
        if !mustWait { waiting.resume() }
      }
    }
  }
}
