/// The columns of a table of percentiles: what latencies there are, and what each is called.
struct LatencyColumns: Sendable {
  let columns: [(name: String, times: LatencyHistogram)]

  init(_ tally: LoadTally) {
    var columns = [("all", tally.latency)]
    if tally.errors > 0 { columns += [("OK", tally.succeededLatency), ("failed", tally.failedLatency)] }
    if tally.isOpenLoop { columns.append(("from start", tally.serviceTime)) }
    self.columns = columns
  }

  /// From when latency counts.
  static func meaning(_ tally: LoadTally) -> String {
    tally.isOpenLoop
      ? "from when a call was due to its end; 'from start' is without the wait before it"
      : "from the start of a call to its end"
  }

  /// The value of each column at a percentile.
  func values(_ percent: Double) -> [String] {
    columns.map { Figure.time($0.times.quantile(percent / 100)) }
  }
}
