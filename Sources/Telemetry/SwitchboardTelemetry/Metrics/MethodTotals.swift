import SwitchboardCall

/// The calls of one method so far, on one side: what the metrics of calls say of it, added up over all statuses.
package struct MethodTotals: Sendable, Equatable {
  package var method: String
  /// The target of the channel; empty on servers.
  package var target: String
  /// The calls that have started; on clients, the attempts.
  package private(set) var started: UInt64 = 0
  /// The calls that have ended with another status than OK.
  package private(set) var failed: UInt64 = 0
  /// The calls that have ended, by the bucket of their duration: one more than there are bounds.
  package private(set) var durations = [UInt64](repeating: 0, count: HistogramBounds.latency.shown.count + 1)
  /// The calls that have ended; on clients, the attempts.
  private var finished: UInt64 = 0
  /// The calls that have ended, and took nobody knows how long.
  private var untimed: UInt64 = 0

  /// No calls.
  package static let none = MethodTotals(method: "", target: "")

  /// Calls that something else counted, which does not know how long they took.
  package init(method: String, target: String, started: UInt64, finished: UInt64, failed: UInt64) {
    self.init(method: method, target: target)
    (self.started, self.finished, self.failed, untimed) = (started, finished, failed, finished)
  }

  fileprivate init(method: String, target: String) {
    self.method = method
    self.target = target
  }

  /// The calls that have ended.
  package var ended: UInt64 { durations.reduce(untimed, &+) }

  /// The calls in progress. Starts and ends are counted one after the other, so more may seem to have ended.
  package var inFlight: UInt64 { started > finished ? started - finished : 0 }

  package mutating func add(_ other: MethodTotals) {
    started &+= other.started
    finished &+= other.finished
    failed &+= other.failed
    untimed &+= other.untimed
    durations = zip(durations, other.durations).map { $0 &+ $1 }
  }

  fileprivate mutating func add(_ meter: CallMeter, isServer: Bool) {
    let (startedCount, cells, _) = meter.read()
    if !meter.countsAttemptsOnly { started &+= UInt64(clamping: startedCount) }
    for (code, cells) in cells.enumerated() {
      guard let cells else { continue }
      finished &+= cells.duration.count
      let ended = isServer ? cells.duration : cells.whole
      durations = zip(durations, ended.counts).map { $0 &+ $1 }
      if code != GRPCStatus.Code.ok.rawValue { failed &+= ended.count }
    }
  }
}

extension CallMeters {
  /// The calls so far, method by method.
  var totals: [MethodTotals] {
    var totals: [Key: MethodTotals] = [:]
    for (key, meter) in all {
      let place = Key(method: key.method, target: key.target)
      totals[place, default: MethodTotals(method: key.method, target: key.target)].add(
        meter,
        isServer: isServer
      )
    }
    return totals.values.sorted { ($0.method, $0.target) < ($1.method, $1.target) }
  }
}
