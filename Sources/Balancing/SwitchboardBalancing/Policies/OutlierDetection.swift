import SwitchboardCall

/// Endpoints whose calls fail more often than others' get no calls for a while (`outlier_detection_experimental`, gRFC A50).
/// Another policy spreads the calls over the rest.
struct OutlierDetection: LoadBalancingPolicy {
  /// More frequent sweeps would take up the loop.
  private static let shortestInterval = Duration.milliseconds(10)

  var name: String { "outlier_detection_experimental" }

  func readConfig(
    _ reader: ConfigReader,
    _ policies: PolicyRegistry
  ) throws(GRPCStatus) -> OutlierDetectionBalancer.Config {
    let policy = try reader.requiredPolicy("childPolicy", try policies.choose("childPolicy", of: reader))
    return OutlierDetectionBalancer.Config(rules: try readRules(reader), policy: policy)
  }

  fileprivate func readRules(_ reader: ConfigReader) throws(GRPCStatus) -> OutlierRules {
    let periods = Self.shortestInterval...ConfigLimit.period
    var rules = OutlierRules()
    rules.interval = try reader.period("interval", in: periods, default: rules.interval)
    rules.baseEjectionTime = try reader.duration("baseEjectionTime") ?? rules.baseEjectionTime
    rules.maxEjectionTime =
      try reader.duration("maxEjectionTime") ?? max(rules.maxEjectionTime, rules.baseEjectionTime)
    rules.maxEjectionPercent = try reader.percentage("maxEjectionPercent", default: rules.maxEjectionPercent)
    if let reader = try reader.object("successRateEjection") {
      rules.successRate = try readRule(
        reader,
        limit: "stdevFactor",
        in: 0...ConfigLimit.count,
        .successRate
      )
    }
    if let reader = try reader.object("failurePercentageEjection") {
      rules.failurePercentage = try readRule(reader, limit: "threshold", in: 0...100, .failurePercentage)
    }
    if !rules.isActive, !reader.hasMistake(in: "successRateEjection"),
      !reader.hasMistake(in: "failurePercentageEjection")
    {
      let reason = "is missing, and so is failurePercentageEjection: no endpoint is ever ejected"
      reader.note([.doubt("successRateEjection", reason)])
    }
    return rules
  }

  private func readRule(
    _ reader: ConfigReader,
    limit: String,
    in range: ClosedRange<Int>,
    _ standard: OutlierRules.Rule
  ) throws(GRPCStatus) -> OutlierRules.Rule {
    let counts = 0...ConfigLimit.count
    let enforcement = try reader.percentage("enforcementPercentage", default: standard.enforcement)
    if enforcement == 0 {
      reader.note([.doubt("enforcementPercentage", "is zero: no endpoint is ejected by this rule")])
    }
    return OutlierRules.Rule(
      limit: try reader.count(limit, in: range, default: standard.limit),
      enforcement: enforcement,
      minimumHosts: try reader.count("minimumHosts", in: counts, default: standard.minimumHosts),
      requestVolume: try reader.count("requestVolume", in: counts, default: standard.requestVolume)
    )
  }

  func makeBalancer(_ host: any BalancerHost) -> OutlierDetectionBalancer { OutlierDetectionBalancer(host) }
}

extension PolicyChoice {
  /// A policy whose endpoints get no calls for a while after too many have failed.
  package static func outlierDetection(_ rules: OutlierRules, over policy: PolicyChoice) -> PolicyChoice {
    PolicyChoice(OutlierDetection(), OutlierDetectionBalancer.Config(rules: rules, policy: policy))
  }
}

extension OutlierRules {
  /// The members of the configuration of `outlier_detection_experimental`, without the child.
  package init(_ members: [String: ConfigValue]) throws(GRPCStatus) {
    self = try OutlierDetection().readRules(ConfigReader(members, at: ""))
  }
}

/// The balancer of `outlier_detection_experimental`.
final class OutlierDetectionBalancer: LoadBalancer {
  struct Config: Hashable, Sendable {
    var rules: OutlierRules
    /// The child policy, which distributes the calls.
    var policy: PolicyChoice
  }

  let host: any BalancerHost
  private lazy var child = ChildBalancer(self)
  private var childPicker: any Picker = ConstantPicker(.wait)
  private var rules = OutlierRules()
  private var byAddresses: [AddressSet: OutlierEndpoint] = [:]
  /// The endpoints in the resolver's order.
  private var endpoints: [OutlierEndpoint] = []
  /// The number of the latest update.
  private var round = 0
  private var timer: (any ScheduledAction)?
  /// The start of the current interval; `nil` while calls are not counted.
  private var intervalStart: Duration?
  private var draws: QuickRandom
  private var meter: OutlierMeter?

  init(_ host: any BalancerHost) {
    self.host = host
    draws = QuickRandom(seed: host.random())
    meter = OutlierMeter(host.metrics)
  }

  func update(_ endpoints: [Endpoint], _ config: Config) throws(GRPCStatus) {
    rules = config.rules
    meter?.update(endpoints)
    let gone = register(endpoints)
    if rules.isActive { startCounting() } else { stopCounting() }
    defer { for endpoint in gone { endpoint.forget() } }
    try child.update(endpoints, config.policy)
  }

  /// Updates the endpoints. Returns those that were removed.
  private func register(_ found: [Endpoint]) -> [OutlierEndpoint] {
    round += 1
    let old = endpoints
    endpoints.removeAll(keepingCapacity: true)
    for endpoint in found {
      guard let key = AddressSet(endpoint.addresses) else { continue }
      let known = byAddresses[key] ?? OutlierEndpoint(key)
      guard known.round != round else { continue }
      if known.round == 0 { byAddresses[key] = known }
      known.round = round
      endpoints.append(known)
    }
    let gone = old.filter { $0.round != round }
    for endpoint in gone { byAddresses[endpoint.key] = nil }
    return gone
  }

  private func startCounting() {
    let now = host.time.now
    if intervalStart == nil {
      for endpoint in endpoints { endpoint.takeCalls() }
    }
    let start = intervalStart ?? now
    intervalStart = start
    startTimer(after: max(.zero, rules.interval - (now - start)))
  }

  private func stopCounting() {
    timer?.cancel()
    timer = nil
    intervalStart = nil
    for endpoint in endpoints { endpoint.forgetEjections() }
  }

  private func startTimer(after delay: Duration) {
    timer?.cancel()
    timer = host.time.schedule(after: delay) { [weak self] in
      guard let self else { return }
      let now = host.time.now
      intervalStart = now
      startTimer(after: rules.interval)
      // Use a copy, because an ejection changes the picker, which may lead back to this balancer.
      var draws = draws
      let rules = rules
      rules.sweep(endpoints, at: now, using: &draws, meter)
      self.draws = draws
    }
  }

  func resolverFailed(_ status: GRPCStatus) { child.resolverFailed(status) }
  func leaveIdle() { child.leaveIdle() }

  func shutDown() {
    timer?.cancel()
    timer = nil
    child.shutDown()
    // It may be the child's policy, which refers to its host.
    childPicker = ConstantPicker(.wait)
    byAddresses = [:]
    endpoints = []
  }
}

extension OutlierDetectionBalancer: ForwardingHost {
  func makeSubchannel(
    _ addresses: [EndpointAddress],
    _ options: SubchannelOptions,
    _ observer: any SubchannelObserver
  ) -> any Subchannel {
    // A policy without health checks, such as `pick_first`, sends all calls to one server, so nothing can replace an
    // ejected one.
    let wrapper = OutlierSubchannel(observer, isEjectable: options.checksHealth) { [weak self] addresses in
      AddressSet(addresses).flatMap { self?.byAddresses[$0] }
    }
    wrapper.start(host.makeSubchannel(addresses, options, wrapper), addresses)
    // The child must not be notified before this method returns.
    if wrapper.isEjected { _ = host.time.schedule(after: .zero) { [weak wrapper] in wrapper?.report() } }
    return wrapper
  }

  func update(_ state: ConnectivityState, _ picker: any Picker) {
    childPicker = picker
    host.update(state, self)
  }

  func resolveAgain() { host.resolveAgain() }
}

extension OutlierDetectionBalancer: Picker {
  func pick(_ call: any CallToPick) -> Pick {
    let pick = childPicker.pick(call)
    guard case .subchannel(let chosen, let tracker) = pick, let wrapper = chosen as? OutlierSubchannel,
      let inner = wrapper.inner
    else { return pick }
    return .subchannel(inner, tracker: rules.isActive ? wrapper.counting(tracker) : tracker)
  }
}
