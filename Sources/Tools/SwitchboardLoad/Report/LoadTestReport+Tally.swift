import LoadMessages

extension LoadTestReport {
  /// The percentiles that reports show.
  package static let percents = [10, 25, 50, 75, 90, 95, 99, 99.9, 99.99]

  /// Makes a report from a tally. `load` describes the requested load in words.
  package init(_ tally: LoadTally, target: String, method: String, started: String, load: String) {
    self.init()
    self.target = target
    self.method = method
    self.started = started
    self.load = load
    measurements = tally.message
    summary = .with {
      $0.seconds = Double(tally.length) / 1e9
      $0.calls = Double(tally.calls)
      $0.errors = Double(tally.errors)
      $0.callsPerSecond = tally.rate
      $0.minimum = Double(tally.latency.minimum) / 1e6
      $0.mean = tally.latency.mean / 1e6
      $0.deviation = tally.latency.deviation / 1e6
      $0.maximum = Double(tally.latency.maximum) / 1e6
      $0.percentiles = Self.percentiles(of: tally.latency)
      if tally.errors > 0 {
        $0.succeeded = Self.percentiles(of: tally.succeededLatency)
        $0.failed = Self.percentiles(of: tally.failedLatency)
      }
      if tally.isOpenLoop { $0.serviceTime = Self.percentiles(of: tally.serviceTime) }
    }
  }

  private static func percentiles(of histogram: LatencyHistogram) -> [LoadTestPercentile] {
    percents.map { percent in
      .with {
        $0.percent = percent
        $0.latency = histogram.quantile(percent / 100) / 1e6
      }
    }
  }

  /// Throws if the report lacks what a comparison needs, and says what.
  package func checkComparable() throws(PayloadError) {
    var missing: [String] = []
    if measurements.latency.counts.isEmpty { missing.append("latency") }
    if measurements.seconds <= 0 { missing.append("seconds") }
    if measurements.statuses.isEmpty { missing.append("statuses") }
    if measurements.series.intervals.isEmpty { missing.append("series") }
    guard !missing.isEmpty else { return }
    // A run that measured no call has none of them.
    let lacks =
      missing.count == 4 ? "no measured call" : "no \(missing.joined(separator: ", ")) in its measurements"
    throw PayloadError("it cannot be compared with: it has \(lacks)")
  }

  /// Parses a report in JSON.
  package static func read(_ json: String) throws(PayloadError) -> (report: LoadTestReport, tally: LoadTally)
  {
    let report: LoadTestReport
    do {
      report = try LoadTestReport(jsonString: json)
    } catch {
      throw PayloadError("not a report of load: \(error)")
    }
    guard let tally = LoadTally(report.measurements) else {
      throw PayloadError("not a report of load: its measurements do not add up")
    }
    return (report, tally)
  }
}
