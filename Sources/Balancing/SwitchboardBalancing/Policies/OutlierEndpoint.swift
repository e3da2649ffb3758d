import SwitchboardCall

/// An endpoint below `outlier_detection`: how its calls end, and whether it is ejected.
final class OutlierEndpoint: LoadTracker {
  /// The most ejections that are counted. Further ones do not lengthen the next one.
  private static let mostEjections = 1000

  /// The endpoint's addresses.
  let key: AddressSet
  /// The number of the latest update that contained the endpoint; 0 before the first.
  var round = 0
  private var successes = 0
  private var failures = 0
  private var ejectedAt: Duration?
  private var ejections = 0
  /// The child's subchannels to this endpoint: one, except while the child policy is being replaced.
  private var subchannels: [OutlierSubchannel] = []

  init(_ key: AddressSet) { self.key = key }

  var isEjected: Bool { ejectedAt != nil }
  var wantsLoadReport: Bool { false }

  func callEnded(_ outcome: CallOutcome) {
    guard let status = outcome.status else { return }
    if status.isOk { successes += 1 } else { failures += 1 }
  }

  /// Returns and resets the counts of ended calls.
  @discardableResult
  func takeCalls() -> (successes: Int, failures: Int) {
    defer { (successes, failures) = (0, 0) }
    return (successes, failures)
  }

  func eject(at now: Duration) {
    ejectedAt = now
    ejections = min(ejections + 1, Self.mostEjections)
    for subchannel in subchannels { subchannel.setEjected(true) }
  }

  private func uneject() {
    guard isEjected else { return }
    ejectedAt = nil
    for subchannel in subchannels { subchannel.setEjected(false) }
  }

  /// Ends the ejection if it was long enough. If the endpoint is not ejected, reduces the number of its ejections by
  /// one.
  func endEjectionIfDue(at now: Duration, base: Duration, longest: Duration) {
    guard let start = ejectedAt else {
      ejections = max(0, ejections - 1)
      return
    }
    if now > start + min(base * ejections, max(base, longest)) { uneject() }
  }

  /// Ends the ejection, and forgets all earlier ones.
  func forgetEjections() {
    ejections = 0
    uneject()
  }

  /// Detaches the subchannels, because the resolver no longer finds the endpoint. The child may still keep some.
  func forget() {
    for subchannel in subchannels { subchannel.leaveEndpoint() }
  }

  func add(_ subchannel: OutlierSubchannel) { subchannels.append(subchannel) }
  func remove(_ subchannel: OutlierSubchannel) { subchannels.removeAll { $0 === subchannel } }
}

/// The child's view of a subchannel. While its endpoint is ejected, it appears as failed.
final class OutlierSubchannel: Subchannel, SubchannelObserver {
  private static let ejection = GRPCStatus(
    code: .unavailable,
    message: "the server is ejected for a while, because too many of its calls failed",
    origin: .library
  )

  /// The host's subchannel.
  private(set) var inner: (any Subchannel)?
  private(set) var isEjected = false
  private var observer: (any SubchannelObserver)?
  /// Its calls count in any case.
  private let isEjectable: Bool
  private let find: ([EndpointAddress]) -> OutlierEndpoint?
  private var endpoint: OutlierEndpoint?
  /// The child's tracker, combined with the endpoint's.
  private var pair: LoadTrackerPair?

  /// `find` returns the endpoint that has exactly these addresses.
  init(
    _ observer: any SubchannelObserver,
    isEjectable: Bool,
    _ find: @escaping ([EndpointAddress]) -> OutlierEndpoint?
  ) {
    self.observer = observer
    self.isEjectable = isEjectable
    self.find = find
  }

  func start(_ inner: any Subchannel, _ addresses: [EndpointAddress]) {
    self.inner = inner
    joinEndpoint(of: addresses)
  }

  private func joinEndpoint(of addresses: [EndpointAddress]) {
    endpoint = find(addresses)
    endpoint?.add(self)
    isEjected = isEjectable && endpoint?.isEjected ?? false
  }

  func leaveEndpoint() {
    endpoint?.remove(self)
    endpoint = nil
    pair = nil
    setEjected(false)
  }

  func setEjected(_ isEjected: Bool) {
    guard isEjectable, self.isEjected != isEjected else { return }
    self.isEjected = isEjected
    report()
  }

  /// Reports the state to the child.
  func report() { observer?.subchannelChanged(self, to: state) }

  /// The tracker of a call: the endpoint's, and the child's if there is one.
  func counting(_ tracker: (any LoadTracker)?) -> (any LoadTracker)? {
    guard let endpoint else { return tracker }
    guard let tracker else { return endpoint }
    if let pair, pair.second === tracker { return pair }
    let pair = LoadTrackerPair(endpoint, tracker)
    self.pair = pair
    return pair
  }

  var state: SubchannelState {
    let actual = inner?.state ?? SubchannelState(.idle)
    guard isEjected else { return actual }
    var state = SubchannelState(.transientFailure, failure: Self.ejection)
    state.beneathEjection = actual.connectivity
    return state
  }

  func connect() { inner?.connect() }

  func update(_ addresses: [EndpointAddress]) {
    inner?.update(addresses)
    let wasEjected = isEjected
    endpoint?.remove(self)
    pair = nil
    joinEndpoint(of: addresses)
    if isEjected != wasEjected { report() }
  }

  func reportLoad(every interval: Duration?) { inner?.reportLoad(every: interval) }

  func shutDown() {
    observer = nil
    leaveEndpoint()
    inner?.shutDown()
  }

  func subchannelChanged(_ subchannel: any Subchannel, to state: SubchannelState) {
    if !isEjected { observer?.subchannelChanged(self, to: state) }
  }

  func subchannel(_ subchannel: any Subchannel, reported load: LoadReport) {
    observer?.subchannel(self, reported: load)
  }
}
