/// When endpoints are ejected, and for how long.
package struct OutlierRules: Hashable, Sendable {
  /// An algorithm that finds outliers.
  struct Rule: Hashable, Sendable {
    /// The threshold: the distance from the mean in thousandths of the standard deviation, or the share of failed calls
    /// in percent.
    var limit: Int
    /// The probability that an outlier is ejected, in percent.
    var enforcement = 100
    /// How many endpoints must have enough calls.
    var minimumHosts = 5
    /// How many calls in an interval are enough.
    var requestVolume: Int

    static let successRate = Rule(limit: 1900, requestVolume: 100)
    static let failurePercentage = Rule(limit: 85, requestVolume: 50)
  }

  /// How long calls are counted before the next sweep.
  var interval = Duration.seconds(10)
  /// The duration of an ejection, multiplied by the number of the endpoint's ejections.
  var baseEjectionTime = Duration.seconds(30)
  /// The longest ejection, unless `baseEjectionTime` is longer.
  var maxEjectionTime = Duration.seconds(300)
  /// The largest share of ejected endpoints, in percent. One may always be ejected.
  var maxEjectionPercent = 10
  var successRate: Rule?
  var failurePercentage: Rule?

  /// Whether calls are counted at all.
  var isActive: Bool { successRate != nil || failurePercentage != nil }

  /// Ejects outliers, judged by the calls since the last sweep, and readmits others.
  func sweep(
    _ endpoints: [OutlierEndpoint],
    at now: Duration,
    using random: inout some RandomNumberGenerator,
    _ meter: OutlierMeter?
  ) {
    let samples = endpoints.map { Sample(endpoint: $0, calls: $0.takeCalls()) }
    var ejected = endpoints.count(where: \.isEjected)
    if let rule = successRate {
      let counted = samples.filter { $0.has(rule.requestVolume) }
      if counted.count >= rule.minimumHosts {
        let least = leastSuccessRate(counted.map(\.successRate), Double(rule.limit) / 1000)
        let outliers = counted.filter { $0.successRate < least }
        eject(outliers, of: endpoints.count, by: rule, &ejected, at: now, using: &random) {
          meter?.found(.successRate, keptFor: $0)
        }
      }
    }
    if let rule = failurePercentage {
      let counted = samples.filter { $0.has(rule.requestVolume) }
      if counted.count >= rule.minimumHosts {
        let most = Double(rule.limit)
        let outliers = counted.filter { $0.failurePercentage > most }
        eject(outliers, of: endpoints.count, by: rule, &ejected, at: now, using: &random) {
          meter?.found(.failurePercentage, keptFor: $0)
        }
      }
    }
    for endpoint in endpoints {
      endpoint.endEjectionIfDue(at: now, base: baseEjectionTime, longest: maxEjectionTime)
    }
  }

  private struct Sample {
    let endpoint: OutlierEndpoint
    let calls: (successes: Int, failures: Int)

    /// An endpoint without calls is never judged.
    func has(_ volume: Int) -> Bool { calls.successes + calls.failures >= max(1, volume) }
    var successRate: Double { Double(calls.successes) / Double(calls.successes + calls.failures) }
    var failurePercentage: Double { 100 * Double(calls.failures) / Double(calls.successes + calls.failures) }
  }

  private func leastSuccessRate(_ rates: [Double], _ factor: Double) -> Double {
    let count = Double(max(1, rates.count))
    let mean = rates.reduce(0, +) / count
    let variance = rates.reduce(0) { $0 + ($1 - mean) * ($1 - mean) } / count
    return mean - factor * variance.squareRoot()
  }

  /// Ejects outliers that are not ejected yet. `note` is told of each, with the reason for which it is not ejected now.
  private func eject(
    _ outliers: [Sample],
    of all: Int,
    by rule: Rule,
    _ ejected: inout Int,
    at now: Duration,
    using random: inout some RandomNumberGenerator,
    note: (OutlierMeter.Reason?) -> Void
  ) {
    for outlier in outliers where !outlier.endpoint.isEjected {
      guard ejected == 0 || ejected * 100 < maxEjectionPercent * all else {
        note(.overflow)
        continue
      }
      guard Int.random(in: 0..<100, using: &random) < rule.enforcement else {
        note(.chance)
        continue
      }
      outlier.endpoint.eject(at: now)
      ejected += 1
      note(nil)
    }
  }
}
