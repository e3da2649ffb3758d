import SwitchboardCall
import SwitchboardTelemetry

/// Keeps the figures of calls, which it reads from the telemetry every few seconds.
final class CallWatch: Sendable {
  /// What was seen, for views.
  struct Sight: Sendable {
    fileprivate(set) var server: CallHistory
    fileprivate(set) var client: CallHistory
    /// When it began.
    let start: ContinuousClock.Instant
    fileprivate var last: ContinuousClock.Instant

    init(_ start: ContinuousClock.Instant, limit: Int) {
      server = CallHistory(limit: limit)
      client = CallHistory(limit: limit)
      (self.start, last) = (start, start)
    }

    /// The calls of one side.
    func calls(of side: ViewQuery.Side) -> CallHistory { side == .server ? server : client }
  }

  private let telemetry: Telemetry
  private let time: any CallTime
  private let sight: Locked<Sight>

  init(_ telemetry: Telemetry, limit: Int, _ time: any CallTime) {
    self.telemetry = telemetry
    self.time = time
    var sight = Sight(time.now, limit: limit)
    // What was counted before is no calls of the first period.
    sight.server.begin(telemetry.totals(ofServers: true))
    sight.client.begin(telemetry.totals(ofServers: false))
    self.sight = Locked(sight)
  }

  var current: Sight { sight.withLock { $0 } }

  /// Ends a period.
  func look() {
    let (server, client) = (telemetry.totals(ofServers: true), telemetry.totals(ofServers: false))
    let now = time.now
    sight.withLock { sight in
      let seconds = max(0.001, sight.last.duration(to: now) / .seconds(1))
      sight.server.add(server, seconds: seconds)
      sight.client.add(client, seconds: seconds)
      sight.last = now
    }
  }
}
