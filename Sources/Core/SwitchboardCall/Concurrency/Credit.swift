// unsafe: continuations that are stored once and taken out once, under the lock

/// How many elements the other side has requested: the sender may send that many.
///
/// Any thread may add credit. Tasks take it, and wait while none is left. `Int.max` means unlimited credit, which never
/// runs out.
@usableFromInline
package final class Credit: Sendable {
  private struct State: Sendable {
    var count: Int
    var isOpen = true
    // Unsafe continuations: each is stored once, under the lock, and removed by the code that resumes it.
    var waiters: [UnsafeContinuation<Void, Never>] = []

    var mustWait: Bool { count <= 0 && isOpen }

    mutating func takeWaiters() -> [UnsafeContinuation<Void, Never>] {
      defer { waiters = [] }
      return waiters
    }

    /// Returns `false` if none is left and more may come.
    mutating func take() throws(GRPCStatus) -> Bool {
      guard count > 0 else {
        if isOpen { return false }
        throw .callEnded
      }
      if count != .max { count -= 1 }
      return true
    }
  }

  private let state: Locked<State>

  package init(_ count: Int = 0) {
    state = Locked(State(count: count))
  }

  var count: Int { state.withLock { $0.count } }

  /// Takes one, even if none is left.
  func spend() { state.withLock { $0.count -= 1 } }

  /// Adds credit. Negative numbers have no effect.
  package func add(_ count: Int) {
    change { state in
      let (sum, overflow) = state.count.addingReportingOverflow(max(0, count))
      state.count = overflow ? .max : sum
    }
  }

  /// Ends the credit: no more will be added. The rest can still be taken.
  @usableFromInline
  package func close() { change { $0.isOpen = false } }

  private func change(_ change: (inout State) -> Void) {
    let waiters: [UnsafeContinuation<Void, Never>] = state.withLock { state in
      change(&state)
      return state.mustWait ? [] : state.takeWaiters()
    }
    for waiter in waiters { waiter.resume() }
  }

  /// Takes one, waiting if none is left. Throws if none is left and the credit is closed.
  package nonisolated(nonsending) func take() async throws {
    while try !state.withLock({ try $0.take() }) { try await wait() }
  }

  /// Waits until credit is available or closed.
  nonisolated(nonsending) func wait() async throws {
    while state.withLock({ $0.mustWait }) {
      try Task.checkCancellation()
      await withTaskCancellationHandler {
        await withUnsafeContinuation { register($0) }
      } onCancel: {
        // All waiters check again, and the cancelled one throws.
        for waiter in state.withLock({ $0.takeWaiters() }) { waiter.resume() }
      }
    }
  }

  private func register(_ waiter: UnsafeContinuation<Void, Never>) {
    let mustWait = state.withLock { state in
      guard state.mustWait, !Task.isCancelled else { return false }
      state.waiters.append(waiter)
      return true
    }
    if !mustWait { waiter.resume() }
  }
}
