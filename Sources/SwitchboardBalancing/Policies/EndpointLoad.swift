import SwitchboardCall

/// What reports of endpoints' loads are worth, of the configuration of `weighted_round_robin`.
struct LoadWeighing {
  var blackoutPeriod = Duration.seconds(10)
  var weightExpirationPeriod = Duration.seconds(180)
  var errorUtilizationPenalty = 1.0
}

/// The weight of an endpoint by the reports of its load (gRFC A58): the calls that it answers in a second, by its
/// utilization.
final class EndpointLoad: CallTracker {
  /// What all endpoints of a policy share. Calls may end after the policy is gone.
  final class Settings {
    var weighing = LoadWeighing()
    /// Whether reports come with calls, rather than on a stream of their own.
    var usesCalls = true
    let time: any BalancerTime

    init(_ time: any BalancerTime) { self.time = time }
  }

  private let settings: Settings
  private var weight = 0.0
  private var lastReport = Duration.zero
  /// When the reports began that have come without a long gap. `nil` after such a gap, and after it has connected.
  private var firstReport: Duration?
  /// The share of visits by a `StrideScheduler`.
  var share = StrideScheduler.full

  init(_ settings: Settings) { self.settings = settings }

  var wantsLoadReport: Bool { settings.usesCalls }

  func callEnded(_ outcome: CallOutcome) {
    if settings.usesCalls, let report = outcome.loadReport { record(report) }
  }

  /// Reports without load, or with values that are not numbers, are ignored.
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

  /// The endpoint has connected: what came before may no longer hold.
  func connected() { firstReport = nil }

  /// 0 where there is none that may be used.
  func currentWeight(at now: Duration) -> Double {
    guard let first = firstReport else { return 0 }
    guard now - lastReport < settings.weighing.weightExpirationPeriod else {
      firstReport = nil
      return 0
    }
    return now - first < settings.weighing.blackoutPeriod ? 0 : weight
  }
}
