/// The beginning of a shutdown: of a server, as its handlers learn of it, or of a channel.
@usableFromInline package final class ShutdownSignal: Sendable {
  private struct State: Sendable {
    var hasBegun = false
    var lastNumber = 0
    var actions: [Int: @Sendable () -> Void] = [:]
  }

  private let state = Locked(State())

  package init() {}

  package var hasBegun: Bool { state.withLock(\.hasBegun) }

  /// Calls the actions that were added. Only the first call has an effect.
  package func begin() {
    let actions = state.withLock { state in
      state.hasBegun = true
      defer { state.actions = [:] }
      return Array(state.actions.values)
    }
    for action in actions { action() }
  }

  /// Calls `action` once, when the shutdown begins; now, if it has begun. Returns what `remove` needs.
  package func add(_ action: @escaping @Sendable () -> Void) -> Int {
    let (number, isLate) = state.withLock { state in
      state.lastNumber += 1
      if !state.hasBegun { state.actions[state.lastNumber] = action }
      return (state.lastNumber, state.hasBegun)
    }
    if isLate { action() }
    return number
  }

  package func remove(_ number: Int) { state.withLock { $0.actions[number] = nil } }
}
