import Switchboard
import Synchronization

/// Records the calls and how they ended; as an observer, also the streams and connections of the transports.
final class SoakLedger: CallObserver {
  /// The two groups of calls.
  enum Lane: String, CaseIterable {
    /// Calls to servers that are restarted gracefully: none may fail.
    case careful
    /// Calls with injected faults: each must end, with a status that the faults explain.
    case rough
  }

  private struct Books {
    var started: [Lane: Int] = [:]
    var outcomes: [Lane: [GRPCStatus.Code: Int]] = [:]
    var surprises: [String] = []
    var surpriseCount = 0
    var faults: [String: Int] = [:]
    var openCalls = 0
    var openConnections = 0
  }

  private let books = Mutex(Books())
  private static let mostSurprises = 10

  func started(_ lane: Lane) { books.withLock { $0.started[lane, default: 0] += 1 } }

  func ended(_ lane: Lane, _ status: GRPCStatus, isExpected: Bool, _ call: SoakCall) {
    books.withLock { books in
      books.outcomes[lane, default: [:]][status.code, default: 0] += 1
      guard !isExpected else { return }
      books.surpriseCount += 1
      if books.surprises.count < Self.mostSurprises { books.surprises.append("\(lane) \(call): \(status)") }
    }
  }

  func count(_ fault: String, _ times: Int = 1) { books.withLock { $0.faults[fault, default: 0] += times } }

  /// Calls and connections that began and did not end.
  var open: Int { books.withLock { $0.openCalls + $0.openConnections } }

  var summary: String {
    books.withLock { books in
      var lines = Lane.allCases.map { lane in
        let outcomes = (books.outcomes[lane] ?? [:]).sorted { $0.value > $1.value }
          .map { "\($0.key) \($0.value)" }.joined(separator: ", ")
        return "\(lane): \(books.started[lane] ?? 0) calls: \(outcomes)"
      }
      let faults = books.faults.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }
      lines.append("faults: \(faults.joined(separator: ", "))")
      return lines.joined(separator: "\n")
    }
  }

  var complaints: [String] {
    books.withLock { books in
      var complaints = books.surprises
      if books.surpriseCount > complaints.count {
        complaints.append("\(books.surpriseCount) such calls in all")
      }
      for lane in Lane.allCases {
        let (started, ended) = (books.started[lane] ?? 0, books.outcomes[lane]?.values.reduce(0, +) ?? 0)
        if started == 0 || started != ended { complaints.append("\(lane): \(started) calls, \(ended) ends") }
      }
      return complaints
    }
  }

  func callStarted(_ call: ObservedCall) -> (any Sendable)? {
    books.withLock { $0.openCalls += 1 }
    return nil
  }

  func callEnded(_ call: ObservedCall, _ end: ObservedEnd, _ token: (any Sendable)?) {
    books.withLock { $0.openCalls -= 1 }
  }

  func connectionOpened(_ connection: ObservedConnection) { books.withLock { $0.openConnections += 1 } }

  func connectionClosed(_ connection: ObservedConnection, _ reason: GRPCStatus) {
    books.withLock { $0.openConnections -= 1 }
  }
}
