import SwitchboardBalancing
import SwitchboardText

/// Where the calls to the servers of a cluster are counted, for reports to control planes. Confined to the channel's loop.
final class ReportedServers {
  private struct ClusterKey: Hashable {
    let cluster: ExactText
    let service: ExactText
    /// The control plane that wants to know.
    let server: ServerID
  }

  private struct PlaceKey: Hashable {
    let cluster: ClusterKey
    let locality: Locality
    let metrics: MetricRule
  }

  private var leases: [ClusterKey: LoadLease] = [:]
  private var places: [PlaceKey: PlaceCounter] = [:]
  /// `.some(nil)` for those that are not reported.
  private var counters: [EndpointAddress: PlaceCounter?] = [:]
  /// The number of the latest update.
  private(set) var round = 0
  /// The cluster whose limits hold, if it is reported.
  private(set) var limited: ClusterLoad?

  /// Whether some cluster is reported.
  var isActive: Bool { !leases.isEmpty }

  /// Takes other servers. Calls that have begun are counted where they began.
  func update(_ leaves: [LeafConfig], _ reporter: (ServerID) -> LoadReporter?) {
    guard isActive || leaves.contains(where: { $0.cluster.reports != nil }) else { return }
    let before = (leases: leases, places: places)
    (leases, places, counters, limited) = ([:], [:], [:], nil)
    round += 1
    for (position, leaf) in leaves.enumerated() {
      let lease = self.lease(leaf.cluster, before.leases, reporter)
      if position == 0 { limited = lease?.load }
      for place in (leaf.endpoints?.priorities ?? []).joined() {
        let counter = lease.flatMap { self.counter(leaf.cluster, place.locality, $0, before.places) }
        // Of equal addresses, the preferred cluster counts.
        for address in place.allEndpoints.lazy.flatMap(\.addresses) where counters[address] == nil {
          counters[address] = .some(counter)
        }
      }
    }
  }

  private func lease(
    _ cluster: ClusterResource,
    _ before: [ClusterKey: LoadLease],
    _ reporter: (ServerID) -> LoadReporter?
  ) -> LoadLease? {
    guard let rule = cluster.reports else { return nil }
    let key = self.key(cluster, rule)
    let lease = leases[key] ?? before[key] ?? reporter(rule.server)?.lease(cluster.name, cluster.service)
    leases[key] = lease
    return lease
  }

  private func counter(
    _ cluster: ClusterResource,
    _ locality: Locality,
    _ lease: LoadLease,
    _ before: [PlaceKey: PlaceCounter]
  ) -> PlaceCounter? {
    guard let rule = cluster.reports else { return nil }
    let key = PlaceKey(cluster: self.key(cluster, rule), locality: locality, metrics: rule.metrics)
    let counter = places[key] ?? before[key] ?? PlaceCounter(lease.load.place(locality), rule.metrics)
    places[key] = counter
    return counter
  }

  private func key(_ cluster: ClusterResource, _ rule: ReportRule) -> ClusterKey {
    ClusterKey(cluster: ExactText(cluster.name), service: ExactText(cluster.service), server: rule.server)
  }

  /// What counts the calls of a server; `nil` if they are not reported.
  func counter(of addresses: [EndpointAddress]) -> PlaceCounter? {
    addresses.lazy.compactMap { self.counters[$0] ?? nil }.first
  }
}

/// Counts calls to a place by the rule of a cluster. Those that have not ended keep it.
final class PlaceCounter: LoadTracker {
  private let load: PlaceLoad
  private let rule: MetricRule

  /// `load` is used until this is released.
  init(_ load: PlaceLoad, _ rule: MetricRule) {
    self.load = load
    self.rule = rule
  }

  deinit { load.unused() }

  var wantsLoadReport: Bool { !rule.isEmpty }

  func callBegan() { load.began() }
  func callEnded(_ outcome: CallOutcome) { load.ended(outcome, rule) }
}

/// A server whose calls are counted for reports.
final class ReportedSubchannel: Subchannel, SubchannelObserver {
  private var inner: (any Subchannel)?
  private var observer: (any SubchannelObserver)?
  private var addresses: [EndpointAddress] = []
  private let servers: ReportedServers
  private var counter: PlaceCounter?
  /// The update of the servers that `counter` is from.
  private var round: Int?
  /// The tracker of the policies, combined with the counter.
  private var pair: CountedPair?

  init(_ servers: ReportedServers, _ observer: any SubchannelObserver) {
    self.servers = servers
    self.observer = observer
  }

  func start(_ inner: any Subchannel, _ addresses: [EndpointAddress]) {
    self.inner = inner
    self.addresses = addresses
  }

  /// A call that goes to the server, and what `tracker` says of it.
  func pick(_ tracker: (any LoadTracker)?) -> Pick? {
    guard let inner else { return nil }
    if round != servers.round {
      (round, counter, pair) = (servers.round, servers.counter(of: addresses), nil)
    }
    guard let counter else { return .subchannel(inner, tracker: tracker) }
    counter.callBegan()
    guard let tracker else { return .subchannel(inner, tracker: counter) }
    let both = pair.flatMap { $0.other === tracker ? $0 : nil } ?? CountedPair(counter, tracker)
    pair = both
    return .subchannel(inner, tracker: both)
  }

  var state: SubchannelState { inner?.state ?? SubchannelState(.idle) }

  func connect() { inner?.connect() }

  func update(_ addresses: [EndpointAddress]) {
    inner?.update(addresses)
    self.addresses = addresses
    round = nil
  }

  func reportLoad(every interval: Duration?) { inner?.reportLoad(every: interval) }

  func shutDown() {
    (observer, counter, pair, round) = (nil, nil, nil, nil)
    inner?.shutDown()
  }

  func subchannelChanged(_ subchannel: any Subchannel, to state: SubchannelState) {
    observer?.subchannelChanged(self, to: state)
  }

  func subchannel(_ subchannel: any Subchannel, reported load: LoadReport) {
    observer?.subchannel(self, reported: load)
  }
}

/// Tells both the counter and the policies of the end of a call.
private final class CountedPair: LoadTracker {
  private let counter: PlaceCounter
  let other: any LoadTracker

  init(_ counter: PlaceCounter, _ other: any LoadTracker) {
    self.counter = counter
    self.other = other
  }

  var wantsLoadReport: Bool { counter.wantsLoadReport || other.wantsLoadReport }

  func callEnded(_ outcome: CallOutcome) {
    counter.callEnded(outcome)
    other.callEnded(outcome)
  }
}
