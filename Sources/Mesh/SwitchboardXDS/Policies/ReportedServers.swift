import SwitchboardBalancing
import SwitchboardText

/// Where the calls to the servers of a cluster are counted, for reports to its control plane. Confined to the channel's loop.
final class ReportedServers {
  private struct ClusterKey: Hashable {
    let service: ExactText
    /// The control plane that wants to know.
    let server: ServerID
  }

  private struct PlaceKey: Hashable {
    let locality: Locality
    let metrics: MetricRule
  }

  private var current: (key: ClusterKey, lease: LoadLease)?
  private var places: [PlaceKey: PlaceCounter] = [:]
  private var counters: [EndpointAddress: PlaceCounter] = [:]
  /// The number of the latest update.
  private(set) var round = 0

  /// Whether the cluster is reported.
  var isActive: Bool { current != nil }
  /// Counts calls that are dropped.
  var load: ClusterLoad? { current?.lease.load }

  /// Takes other servers, of the same cluster; `nil`: it has none any more. Calls that have begun are counted where they began.
  func update(_ leaf: LeafConfig?, _ reporter: (ServerID) -> LoadReporter?) {
    guard isActive || leaf?.cluster.reports != nil else { return }
    let before = (current: current, places: places)
    (current, places, counters) = (nil, [:], [:])
    round += 1
    guard let leaf, let rule = leaf.cluster.reports else { return }
    let key = ClusterKey(service: ExactText(leaf.cluster.service), server: rule.server)
    let isSame = before.current?.key == key
    let lease =
      isSame
      ? before.current?.lease : reporter(rule.server)?.lease(leaf.cluster.name, leaf.cluster.service)
    guard let lease else { return }
    current = (key, lease)
    for place in leaf.places {
      let key = PlaceKey(locality: place.locality, metrics: rule.metrics)
      let known = places[key] ?? (isSame ? before.places[key] : nil)
      let counter = known ?? PlaceCounter(lease.load.place(place.locality), rule.metrics)
      places[key] = counter
      for address in place.allEndpoints.lazy.flatMap(\.addresses) { counters[address] = counter }
    }
  }

  /// What counts the calls of a server; `nil` if they are not reported.
  func counter(of addresses: [EndpointAddress]) -> PlaceCounter? {
    addresses.lazy.compactMap { self.counters[$0] }.first
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
  private var pair: LoadTrackerPair?

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
    let both = pair.flatMap { $0.second === tracker ? $0 : nil } ?? LoadTrackerPair(counter, tracker)
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
