import SwitchboardCall

/// The settings of `weighted_round_robin` that determine weights.
struct LoadWeighing {
  var blackoutPeriod = Duration.seconds(10)
  var weightExpirationPeriod = Duration.seconds(180)
  var errorUtilizationPenalty = 1.0
}

/// The weight of an endpoint (gRFC A58): its reported calls per second, divided by its utilization.
final class EndpointLoad: CallTracker {
  /// The settings that all endpoints of a policy share. They outlive the policy, because calls may end later.
  final class Settings {
    var weighing = LoadWeighing()
    /// Whether reports come with calls instead of on a separate stream.
    var usesCalls = true
    let time: any BalancerTime

    init(_ time: any BalancerTime) { self.time = time }
  }

  private let settings: Settings
  private var weight = 0.0
  private var lastReport = Duration.zero
  /// The time of the first report since the last long gap or connection. `nil` until there is one.
  private var firstReport: Duration?
  /// The endpoint's share in a `StrideScheduler`.
  var share = StrideScheduler.full

  init(_ settings: Settings) { self.settings = settings }

  var wantsLoadReport: Bool { settings.usesCalls }

  func callEnded(_ outcome: CallOutcome) {
    if settings.usesCalls, let report = outcome.loadReport { record(report) }
  }

  /// Records a report. One without load, or from which no finite weight follows, is ignored.
  func record(_ report: LoadReport) {
    let rate = report.queriesPerSecond
    let busy = report.applicationUtilization > 0 ? report.applicationUtilization : report.cpuUtilization
    guard rate > 0, busy > 0 else { return }
    let errors = max(0, report.errorsPerSecond) / rate * settings.weighing.errorUtilizationPenalty
    let new = rate / (busy + errors)
    guard new > 0, new.isFinite else { return }
    let now = settings.time.now
    if firstReport == nil { firstReport = now }
    lastReport = now
    weight = new
  }

  /// Discards earlier reports after a new connection, because they may no longer hold.
  func connected() { firstReport = nil }

  /// The current weight; 0 if there is none that may be used.
  func currentWeight(at now: Duration) -> Double {
    guard let first = firstReport else { return 0 }
    guard now - lastReport < settings.weighing.weightExpirationPeriod else {
      firstReport = nil
      return 0
    }
    return now - first < settings.weighing.blackoutPeriod ? 0 : weight
  }
}
