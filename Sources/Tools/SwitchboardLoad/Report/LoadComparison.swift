/// The changes between two runs, with confidence intervals.
package struct LoadComparison: Sendable {
  package struct Row: Sendable {
    package let metric: LoadMetric
    package let old: Double
    package let new: Double
    /// The change in percent, and its 95% confidence interval; nil if there are too few calls.
    package let change: Double?
    package let bounds: ClosedRange<Double>?

    /// Whether the change is statistically significant.
    package var isSure: Bool { bounds.map { !$0.contains(0) } ?? false }

    /// Whether the new figure is worse.
    var isWorse: Bool { metric == .rate ? new < old : new > old }
  }

  package let rows: [Row]

  /// 95% of values lie within 1.96 standard errors on either side.
  private static let width = 1.96

  package init(old: LoadTally, new: LoadTally) {
    var rows = [Self.row(.rate, old, new, Self.rateError)]
    rows.append(Self.row(.mean, old, new, Self.meanError))
    for percent in [50, 90, 95, 99, 99.9] {
      rows.append(
        Self.row(.percentile(percent), old, new) { Self.quantileError($0.latency, percent / 100) }
      )
    }
    rows.append(Self.errorRow(old, new))
    self.rows = rows
  }

  /// The change of a ratio. Errors add up in its logarithm. `error` is relative.
  private static func row(
    _ metric: LoadMetric,
    _ old: LoadTally,
    _ new: LoadTally,
    _ error: (LoadTally) -> Double?
  ) -> Row {
    let (before, after) = (metric.value(in: old), metric.value(in: new))
    guard before > 0, after > 0, let first = error(old), let second = error(new) else {
      return Row(metric: metric, old: before, new: after, change: nil, bounds: nil)
    }
    let logarithm = Root.logarithm(after / before)
    let reach = width * (first * first + second * second).squareRoot()
    func percent(_ logarithm: Double) -> Double { (Root.exponential(logarithm) - 1) * 100 }
    return Row(
      metric: metric,
      old: before,
      new: after,
      change: percent(logarithm),
      bounds: percent(logarithm - reach)...percent(logarithm + reach)
    )
  }

  /// The share of errors. Its difference is shown, not the ratio, because the old share may be zero.
  private static func errorRow(_ old: LoadTally, _ new: LoadTally) -> Row {
    let (before, after) = (old.errorShare * 100, new.errorShare * 100)
    guard old.calls > 0, new.calls > 0 else {
      return Row(metric: .errorPercent, old: before, new: after, change: nil, bounds: nil)
    }
    func variance(_ tally: LoadTally) -> Double {
      // Adds one failed and one successful call, because not having seen a failure does not mean that there are none.
      let share = (Double(tally.errors) + 1) / (Double(tally.calls) + 2)
      return share * (1 - share) / Double(tally.calls)
    }
    let reach = width * (variance(old) + variance(new)).squareRoot() * 100
    let change = after - before
    return Row(
      metric: .errorPercent,
      old: before,
      new: after,
      change: change,
      bounds: (change - reach)...(change + reach)
    )
  }

  /// The relative standard error of the rate, from how it varies between intervals.
  private static func rateError(_ tally: LoadTally) -> Double? {
    // The last interval is incomplete, and what follows the time of the rate is no part of it.
    let whole = Int(clamping: tally.length / tally.series.length)
    let counts = tally.series.intervals.prefix(whole).map { Double($0.calls) }
    guard counts.count >= 5 else { return nil }
    let mean = counts.reduce(0, +) / Double(counts.count)
    guard mean > 0 else { return nil }
    let squares = counts.reduce(0) { $0 + ($1 - mean) * ($1 - mean) }
    return (squares / Double(counts.count - 1) / Double(counts.count)).squareRoot() / mean
  }

  private static func meanError(_ tally: LoadTally) -> Double? {
    let latency = tally.latency
    guard latency.count >= 10, latency.mean > 0 else { return nil }
    return latency.deviation / Double(latency.count).squareRoot() / latency.mean
  }

  /// The relative error of a percentile: from the values at the ranks around it, if calls are independent of each
  /// other.
  private static func quantileError(_ histogram: LatencyHistogram, _ share: Double) -> Double? {
    let count = Double(histogram.count)
    guard count * min(share, 1 - share) >= 5 else { return nil }
    let reach = width * (count * share * (1 - share)).squareRoot()
    let low = histogram.value(atRank: count * share - reach)
    let high = histogram.value(atRank: count * share + reach)
    guard low > 0 else { return nil }
    // At least the width of a bucket.
    return max(Root.logarithm(high / low) / (2 * width), 0.002)
  }

  // MARK: Showing

  package func text(ink: Ink) -> String {
    var lines = [ink.bold("Change") + "        before       after"]
    for row in rows {
      let name = TextReport.padded("  \(row.metric.name)", to: 10)
      let old = TextReport.padded(row.metric.text(row.old), to: 12, left: true)
      let new = TextReport.padded(row.metric.text(row.new), to: 12, left: true)
      lines.append("\(name)\(old)\(new)   \(verdict(row, ink))")
    }
    return lines.joined(separator: "\n") + "\n"
  }

  private func verdict(_ row: Row, _ ink: Ink) -> String {
    guard let change = row.change, let bounds = row.bounds else { return "too few calls to compare" }
    let unit = row.metric == .errorPercent ? " points" : "%"
    func signed(_ value: Double) -> String {
      (value < 0 ? "" : "+") + Figure.decimal(value, places: 1) + unit
    }
    let text = "\(signed(change)) (95%: \(signed(bounds.lowerBound)) to \(signed(bounds.upperBound)))"
    guard row.isSure else { return "\(text), may be chance" }
    return row.isWorse ? ink.red(text) : ink.green(text)
  }
}
