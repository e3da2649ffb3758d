import SwitchboardCall

/// The settings of `weighted_round_robin` that determine weights.
struct LoadWeighing {
  var blackoutPeriod = Duration.seconds(10)
  var weightExpirationPeriod = Duration.seconds(180)
  var errorUtilizationPenalty = 1.0
}

/// What servers have sent in place of load reports from which weights follow.
struct LoadLack {
  /// The calls that succeeded.
  var calls = 0
  /// The reports without a weight.
  var reports = 0
}

/// The weight of an endpoint (gRFC A58): its reported calls per second, divided by its utilization.
final class EndpointLoad: LoadTracker {
  /// The settings that all endpoints of a policy share. They outlive the policy, because calls may end later.
  final class Settings {
    var weighing = LoadWeighing()
    /// Whether reports come with calls instead of on a separate stream.
    var usesCalls = true
    /// What came while no report had a weight in it; `nil` once one had, or the log has said so.
    var lack: LoadLack? = LoadLack()
    let time: any BalancerTime

    init(_ time: any BalancerTime) { self.time = time }
  }

  private let settings: Settings
  /// The weight by the last report, and when that came. `nil` until there is one.
  private var last: (weight: Double, time: Duration)?
  /// The time of the first report since the last long gap or connection. `nil` until there is one.
  private var firstReport: Duration?
  /// The endpoint's share in a `StrideScheduler`.
  var share = StrideScheduler.full

  init(_ settings: Settings) { self.settings = settings }

  var wantsLoadReport: Bool { settings.usesCalls }

  func callEnded(_ outcome: CallOutcome) {
    if settings.usesCalls, let report = outcome.loadReport { record(report) }
    if settings.lack != nil, outcome.status?.code == .ok { settings.lack?.calls += 1 }
  }

  /// Records a report. One without load, or from which no finite weight follows, is ignored.
  func record(_ report: LoadReport) {
    let rate = report.queriesPerSecond
    let busy = report.applicationUtilization > 0 ? report.applicationUtilization : report.cpuUtilization
    guard rate > 0, busy > 0 else {
      settings.lack?.reports += 1
      return
    }
    let errors = max(0, report.errorsPerSecond) / rate * settings.weighing.errorUtilizationPenalty
    let new = rate / (busy + errors)
    guard new > 0, new.isFinite else { return }
    let now = settings.time.now
    if firstReport == nil { firstReport = now }
    last = (new, now)
    settings.lack = nil
  }

  /// Discards earlier reports after a new connection, because they may no longer hold.
  func connected() { firstReport = nil }

  /// The weight that follows from the reports, or why there is none.
  enum State {
    case usable(Double)
    /// There is no report, or the blackout period is not over.
    case notYetUsable
    /// The last report is too old.
    case stale

    /// 0 if there is none that may be used.
    var weight: Double { if case .usable(let weight) = self { weight } else { 0 } }
  }

  func state(at now: Duration) -> State {
    guard let last else { return .notYetUsable }
    guard now - last.time < settings.weighing.weightExpirationPeriod else {
      firstReport = nil
      return .stale
    }
    guard let firstReport, now - firstReport >= settings.weighing.blackoutPeriod else { return .notYetUsable }
    return .usable(last.weight)
  }
}
