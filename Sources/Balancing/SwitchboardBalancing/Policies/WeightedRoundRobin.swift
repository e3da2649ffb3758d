import SwitchboardCall

/// Calls go to all connected endpoints, in proportion to weights from their load reports (`weighted_round_robin`, gRFC
/// A58).
struct WeightedRoundRobin: LoadBalancingPolicy {
  /// The shortest interval between updates of the weights.
  static let shortestUpdatePeriod = Duration.milliseconds(100)

  var name: String { "weighted_round_robin" }

  func readConfig(
    _ reader: ConfigReader,
    _ policies: PolicyRegistry
  ) throws(GRPCStatus) -> WeightedRoundRobinBalancer.Config {
    var config = WeightedRoundRobinBalancer.Config()
    let periods = Self.shortestUpdatePeriod...ConfigLimit.period
    config.enableOobLoadReport = try reader.bool("enableOobLoadReport") ?? false
    config.oobReportingPeriod = try reader.period("oobReportingPeriod", in: periods, default: .seconds(10))
    config.blackoutPeriod = try reader.duration("blackoutPeriod") ?? config.blackoutPeriod
    config.weightExpirationPeriod =
      try reader.duration("weightExpirationPeriod") ?? config.weightExpirationPeriod
    config.weightUpdatePeriod = try reader.period("weightUpdatePeriod", in: periods, default: .seconds(1))
    if let penalty = try reader.number("errorUtilizationPenalty") {
      if penalty < 0 { try reader.refuse("errorUtilizationPenalty", "is below 0") }
      config.errorUtilizationPenalty = penalty
    }
    noteDoubts(config, reader)
    return config
  }

  private func noteDoubts(_ config: WeightedRoundRobinBalancer.Config, _ reader: ConfigReader) {
    if !config.enableOobLoadReport, reader.has("oobReportingPeriod"),
      !reader.hasMistake(in: "enableOobLoadReport")
    {
      reader.note([.doubt("oobReportingPeriod", "has no effect unless enableOobLoadReport is true")])
    }
    if let interval = config.streamInterval, interval >= config.weightExpirationPeriod {
      reader.note([
        .doubt(
          "weightExpirationPeriod",
          "is not above oobReportingPeriod: a weight ends before the next report"
        )
      ])
    }
    if config.blackoutPeriod > config.weightExpirationPeriod {
      let reason = "is above weightExpirationPeriod: an endpoint whose reports pause may never get a weight"
      reader.note([.doubt("blackoutPeriod", reason)])
    }
  }

  func makeBalancer(_ host: any BalancerHost) -> WeightedRoundRobinBalancer {
    WeightedRoundRobinBalancer(host)
  }
}

/// The balancer of `weighted_round_robin`.
final class WeightedRoundRobinBalancer: LoadBalancer, Picker {
  struct Config: Hashable, Sendable {
    /// Whether servers report their load on a separate stream, and how often.
    var enableOobLoadReport = false
    var oobReportingPeriod = Duration.seconds(10)
    /// How long an endpoint must have reported before its weight is used.
    var blackoutPeriod = Duration.seconds(10)
    /// How long a report counts.
    var weightExpirationPeriod = Duration.seconds(180)
    /// How often shares are computed from the weights.
    var weightUpdatePeriod = Duration.seconds(1)
    /// How much the share of failed calls adds to the utilization.
    var errorUtilizationPenalty = 1.0

    /// The interval of the stream of reports.
    var streamInterval: Duration? { enableOobLoadReport ? oobReportingPeriod : nil }
  }

  private let host: any BalancerHost
  private let settings: EndpointLoad.Settings
  private var config = Config()
  private var scheduler: StrideScheduler
  private var scale = StrideScheduler.Scale()
  /// How many endpoints have become ready or ceased to be ready since the shares were computed.
  private var changes = 0
  private var timer: (any ScheduledAction)?
  private var meter: WeightMeter?
  /// When the first call was seen to succeed, while no report has had a weight in it.
  private var lackStart: Duration?
  /// So few calls are no reason to doubt.
  private static let callsBeforeDoubt = 100

  private let endpoints: EndpointSubchannels

  init(_ host: any BalancerHost) {
    self.host = host
    meter = WeightMeter(host.metrics)
    settings = EndpointLoad.Settings(host.time)
    scheduler = StrideScheduler(seed: host.random())
    endpoints = EndpointSubchannels(host)
    endpoints.events.added = { [settings] in $0.load = EndpointLoad(settings) }
    endpoints.events.changed = { [weak self] in self?.publish() }
    endpoints.events.moved = { [weak self] in self?.moved($0, from: $1) }
    endpoints.events.reported = { [settings] in
      if !settings.usesCalls { $0.load?.record($1) }
    }
  }

  func update(_ endpoints: [Endpoint], _ config: Config) throws(GRPCStatus) {
    let old = self.config
    self.config = config
    if old.enableOobLoadReport != config.enableOobLoadReport {
      settings.lack = LoadLack()
      lackStart = nil
    }
    meter?.update(endpoints)
    settings.usesCalls = !config.enableOobLoadReport
    settings.weighing.blackoutPeriod = config.blackoutPeriod
    settings.weighing.weightExpirationPeriod = config.weightExpirationPeriod
    settings.weighing.errorUtilizationPenalty = config.errorUtilizationPenalty
    if old.streamInterval != config.streamInterval {
      for member in self.endpoints.members { member.subchannel.reportLoad(every: config.streamInterval) }
    }
    var options = SubchannelOptions()
    options.loadReportInterval = config.streamInterval
    self.endpoints.update(endpoints, options)
    guard !self.endpoints.members.isEmpty else {
      resolverFailed(.noEndpoints)
      throw .noEndpoints
    }
    if timer == nil || old.weightUpdatePeriod != config.weightUpdatePeriod { startTimer() }
    share()
    publish()
  }

  func resolverFailed(_ status: GRPCStatus) {
    guard endpoints.members.isEmpty else { return }
    host.update(.transientFailure, ConstantPicker(.fail(status)))
  }

  func leaveIdle() {}

  func shutDown() {
    timer?.cancel()
    timer = nil
    endpoints.shutDown()
  }

  private func publish() { host.update(endpoints, whenReady: self) }

  private func moved(_ member: EndpointSubchannels.Member, from old: ConnectivityState) {
    guard member.state == .ready || old == .ready else { return }
    changes += 1
    guard member.state == .ready else { return }
    member.load?.connected()
    member.load?.share = scale.unknown
  }

  private func startTimer() {
    timer?.cancel()
    timer = host.time.schedule(after: config.weightUpdatePeriod) { [weak self] in
      guard let self else { return }
      share()
      if let lack = settings.lack { judge(lack) }
      startTimer()
    }
  }

  /// Computes the shares of all endpoints that are ready.
  private func share() {
    changes = 0
    let now = settings.time.now
    var (sum, greatest, count) = (0.0, 0.0, 0)
    for member in endpoints.ready {
      guard let state = member.load?.state(at: now) else { continue }
      meter?.note(state)
      guard case .usable(let weight) = state else { continue }
      sum += weight
      greatest = max(greatest, weight)
      count += 1
    }
    meter?.record()
    scale = StrideScheduler.Scale(sum: sum, greatest: greatest, count: count)
    for member in endpoints.ready {
      if let load = member.load { load.share = scale.share(of: load.state(at: now).weight) }
    }
  }

  /// Says once that no server reports what weights are made of, when there has been time for it.
  private func judge(_ lack: LoadLack) {
    guard lack.calls > 0 else { return }
    let now = settings.time.now
    let start = lackStart ?? now
    lackStart = start
    // Servers choose the pace of a stream themselves, and may have had nothing to do at its beginning.
    let patience = config.enableOobLoadReport ? config.weightExpirationPeriod : config.blackoutPeriod
    guard lack.calls >= Self.callsBeforeDoubt, now - start >= patience else { return }
    settings.lack = nil
    let reason =
      lack.reports > 0
      ? "no report of load had queries per second and a utilization above zero: servers set both"
      : config.enableOobLoadReport
        ? "no server reported its load on a stream: servers need a LoadReportService"
        : "no server reported its load with its calls: servers set ServerOptions.loadRecorder or context.loadReport, or report on a "
          + "stream, for which enableOobLoadReport asks"
    host.warn("weighted_round_robin acts as round_robin: \(reason)")
  }

  func pick(_ call: any CallToPick) -> Pick {
    let count = endpoints.ready.count
    guard count > 0 else { return .wait }
    // After endpoints have gone, the shares of the others may all be small. Waiting for changes of an eighth keeps the
    // cost of each change low.
    if changes * 8 > count { share() }
    let member = endpoints.ready[
      scheduler.next(of: count) { endpoints.ready[$0].load?.share ?? StrideScheduler.full }
    ]
    return .subchannel(
      member.subchannel,
      tracker: settings.usesCalls || settings.lack != nil ? member.load : nil
    )
  }
}
