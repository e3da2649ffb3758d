import SwitchboardCall

extension Telemetry {
  /// The bounds of the buckets of durations, in seconds.
  package static var durationBounds: [Double] { HistogramBounds.latency.shown }

  /// Whether it counts calls.
  package var countsCalls: Bool { parts.serverMeters != nil }

  /// The name of the service.
  package var serviceName: String { pages.serviceName }

  /// The calls of servers or of clients so far, method by method.
  package func totals(ofServers isServer: Bool) -> [MethodTotals] {
    (isServer ? parts.serverMeters : parts.clientMeters)?.totals ?? []
  }

  /// The calls in progress.
  var unfinishedCalls: UInt64 {
    (totals(ofServers: true) + totals(ofServers: false)).reduce(0) { $0 &+ $1.inFlight }
  }

  /// A page that shows calls is made of it.
  package func pageWasMade() { if countsCalls { parts.use.pageWasMade() } }

  /// Somebody looks at that page.
  package func pageWasRead() { parts.use.pageWasRead() }

  /// How often peers broke each rule.
  package var abuses: [PeerAbuse: Int] { parts.connections?.abuses ?? [:] }
}
