import Switchboard

/// One side's record of its calls and connections.
final class Ledger: CallObserver {
  struct Books: Sendable {
    var started = 0
    var ended: [GRPCStatus.Code: Int] = [:]
    /// Ends of calls that had ended already or never started.
    var strays = 0
    var connections = 0
    var failedConnections = 0
    fileprivate var open: Set<Int> = []

    var endedInAll: Int { ended.values.reduce(0, +) }
    var isEven: Bool { open.isEmpty && strays == 0 && started == endedInAll }
  }

  private struct State {
    var books = Books()
    var waiters: [(condition: @Sendable (Books) -> Bool, continuation: CheckedContinuation<Void, Never>)] = []
  }

  private let state = Locked(State())

  var books: Books { state.withLock { $0.books } }

  /// Returns once the condition holds.
  func until(_ condition: @escaping @Sendable (Books) -> Bool) async {
    await withCheckedContinuation { continuation in
      let holds = state.withLock { state in
        if condition(state.books) { return true }
        state.waiters.append((condition, continuation))
        return false
      }
      if holds { continuation.resume() }
    }
  }

  private func enter<Result>(_ entry: (inout Books) -> Result) -> Result {
    let (result, due) = state.withLock { state in
      let result = entry(&state.books)
      let due = state.waiters.filter { $0.condition(state.books) }
      let books = state.books
      state.waiters.removeAll { $0.condition(books) }
      return (result, due.map(\.continuation))
    }
    for continuation in due { continuation.resume() }
    return result
  }

  func callStarted(_ call: ObservedCall) -> (any Sendable)? {
    enter { books in
      books.started += 1
      books.open.insert(books.started)
      return books.started
    }
  }

  func callEnded(_ call: ObservedCall, _ end: ObservedEnd, _ token: (any Sendable)?) {
    enter { books in
      books.ended[end.status.code, default: 0] += 1
      if (token as? Int).flatMap({ books.open.remove($0) }) == nil { books.strays += 1 }
    }
  }

  func connectionOpened(_ connection: ObservedConnection) { enter { $0.connections += 1 } }

  func connectionClosed(_ connection: ObservedConnection, _ reason: GRPCStatus) {
    enter { $0.connections -= 1 }
  }

  func connectionFailed(_ connection: ObservedConnection, _ reason: GRPCStatus) {
    enter { $0.failedConnections += 1 }
  }
}
