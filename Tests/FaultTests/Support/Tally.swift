import Switchboard

/// Counts the calls that callers started, and their results.
final class Tally: Sendable {
  private struct State {
    var started = 0
    var outcomes: [GRPCStatus.Code: Int] = [:]
    var surprises: [String] = []
    var waiters: [(Int, CheckedContinuation<Void, Never>)] = []

    var ended: Int { outcomes.values.reduce(0, +) }
  }

  private let state = Locked(State())

  var started: Int { state.withLock { $0.started } }
  var outcomes: [GRPCStatus.Code: Int] { state.withLock { $0.outcomes } }
  var ended: Int { state.withLock { $0.ended } }
  /// Calls whose status nothing explains.
  var surprises: [String] { state.withLock { $0.surprises } }

  func count(_ what: String, isExpected: (GRPCStatus) -> Bool, _ call: () async -> GRPCStatus) async {
    state.withLock { $0.started += 1 }
    let status = await call()
    let due = state.withLock { state in
      state.outcomes[status.code, default: 0] += 1
      if !isExpected(status) { state.surprises.append("\(what): \(status)") }
      let ended = state.ended
      defer { state.waiters.removeAll { $0.0 <= ended } }
      return state.waiters.filter { $0.0 <= ended }
    }
    for (_, waiter) in due { waiter.resume() }
  }

  /// Returns once this many more calls have ended.
  func wait(for more: Int) async {
    await withCheckedContinuation { continuation in
      state.withLock { $0.waiters.append(($0.ended + more, continuation)) }
    }
  }
}

/// Tells several tasks to stop.
final class Stop: Sendable {
  private let isSet = Locked(false)

  var isOver: Bool { isSet.withLock { $0 } }

  func set() { isSet.withLock { $0 = true } }
}
