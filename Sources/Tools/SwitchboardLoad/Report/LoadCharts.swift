/// The charts of a report, as SVG.
enum LoadCharts {
  /// The area of a chart, in SVG units.
  struct Frame {
    let width = 1000.0
    let height = 294.0
    let left = 70.0
    let bottom = 48.0
    let top = 26.0

    var inner: Double { width - left - 10 }
    var depth: Double { height - bottom - top }

    func x(_ share: Double) -> Double { left + share * inner }
    func y(_ share: Double) -> Double { top + (1 - share) * depth }

    /// `x` and `y` name the axes.
    func picture(_ name: String, x: String, y: String, _ drawn: [String]) -> String {
      let box = "0 0 \(number(width)) \(number(height))"
      let content =
        drawn + [
          "<text x=\"\(number(left))\" y=\"14\">\(y)</text>",
          "<text x=\"\(number(width - 10))\" y=\"\(number(height - 6))\" text-anchor=\"end\">\(x)</text>",
        ]
      return
        "<svg viewBox=\"\(box)\" role=\"img\" aria-label=\"\(name)\">\n\(content.joined(separator: "\n"))\n</svg>\n"
    }

    /// The grid lines and their labels at the left. `label` receives shares of the largest value.
    func scale(_ label: (Double) -> String) -> [String] {
      [0, 0.25, 0.5, 0.75, 1].map { share in
        let y = number(y(share))
        return
          "<line class=\"axis\" x1=\"\(number(left))\" x2=\"\(number(width - 10))\" y1=\"\(y)\" y2=\"\(y)\"/>"
          + "<text x=\"\(number(left - 6))\" y=\"\(number(self.y(share) + 4))\" text-anchor=\"end\">\(label(share))</text>"
      }
    }

    func mark(_ share: Double, _ text: String) -> String {
      let anchor = share < 0.05 ? "start" : share > 0.95 ? "end" : "middle"
      return
        "<text x=\"\(number(x(share)))\" y=\"\(number(height - 26))\" text-anchor=\"\(anchor)\">\(text)</text>"
    }

    func bar(
      _ index: Int,
      of count: Int,
      from low: Double = 0,
      to high: Double,
      _ style: String,
      _ title: String
    ) -> String {
      let width = inner / Double(count)
      let x = number(left + Double(index) * width + min(0.5, width / 4))
      let size =
        "width=\"\(number(max(width - min(1, width / 2), 0.5)))\" height=\"\(number((high - low) * depth))\""
      return
        "<rect class=\"\(style)\" x=\"\(x)\" y=\"\(number(y(high)))\" \(size)><title>\(title)</title></rect>"
    }

    func number(_ value: Double) -> String { Figure.decimal(value, places: 1) }
  }

  static func histogram(_ latency: LatencyHistogram) -> String {
    let frame = Frame()
    let bins = LatencyBins(latency, count: 60)
    let largest = Double(max(1, bins.largest))
    var content = frame.scale { Figure.grouped($0 * largest) }
    for (index, bin) in bins.bins.enumerated() where bin.calls > 0 {
      let title =
        "\(Figure.time(bin.low)) to \(Figure.time(bin.high)): \(Figure.grouped(Double(bin.calls))) calls"
      // Even a bin with a single call must be visible.
      let share = max(Double(bin.calls) / largest, 0.005)
      content.append(frame.bar(index, of: bins.bins.count, to: share, "bar", title))
    }
    for index in stride(from: 0, to: bins.bins.count, by: 12) {
      content.append(frame.mark(Double(index) / Double(bins.bins.count), Figure.time(bins.bins[index].low)))
    }
    if let last = bins.bins.last { content.append(frame.mark(1, Figure.time(last.high))) }
    return frame.picture("Histogram of latencies", x: "latency, logarithmic", y: "calls", content)
  }

  /// The percentiles from 0 to 99.99, on a scale on which each step to the right covers a tenth of the calls of the
  /// previous one.
  static func percentiles(_ latency: LatencyHistogram) -> String {
    let frame = Frame()
    let decades = 4.0
    let largest = max(1, latency.quantile(0.9999))
    let points = (0...200).map { step in
      let share = Double(step) / 200
      let quantile = 1 - Root.exponential(-share * decades * 2.302_585_092_994_046)
      return "\(frame.number(frame.x(share))),\(frame.number(frame.y(latency.quantile(quantile) / largest)))"
    }
    var content = frame.scale { Figure.time($0 * largest) }
    content.append("<polyline class=\"curve\" points=\"\(points.joined(separator: " "))\"/>")
    for (index, name) in ["min", "p90", "p99", "p99.9", "p99.99"].enumerated() {
      content.append(frame.mark(Double(index) / decades, name))
    }
    return frame.picture("Latency by percentile", x: "percentile of the calls", y: "latency", content)
  }

  static func rate(_ series: TimeSeries, length: UInt64) -> String {
    let frame = Frame()
    let seconds = Double(series.length) / 1e9
    let rates = series.intervals.enumerated().map { index, interval in
      Double(interval.calls) / lasting(index, series, length)
    }
    let largest = max(rates.max() ?? 1, 1)
    var content = frame.scale { Figure.grouped($0 * largest) }
    for (index, interval) in series.intervals.enumerated() where interval.calls > 0 {
      let share = rates[index] / largest
      let failed = share * Double(interval.errors) / Double(interval.calls)
      let title =
        "\(Figure.short(Double(index) * seconds)) s: \(Figure.rate(rates[index])), "
        + "\(Figure.grouped(Double(interval.errors))) failed"
      let count = series.intervals.count
      content.append(frame.bar(index, of: count, from: failed, to: share, "bar", title))
      if interval.errors > 0 { content.append(frame.bar(index, of: count, to: failed, "bad-bar", title)) }
    }
    return frame.picture(
      "Calls per second over time",
      x: "time since the warm-up",
      y: "calls that ended per second",
      content + times(frame, series)
    )
  }

  static func latency(_ series: TimeSeries, length: UInt64) -> String {
    let frame = Frame()
    let largest = max(1, Double(series.intervals.map(\.latencyMaximum).max() ?? 1))
    func curve(_ style: String, _ value: (TimeSeries.Interval) -> Double) -> String {
      let count = Double(max(1, series.intervals.count))
      let points = series.intervals.enumerated().filter { $0.element.calls > 0 }.map { index, interval in
        let x = frame.number(frame.x((Double(index) + 0.5) / count))
        return "\(x),\(frame.number(frame.y(value(interval) / largest)))"
      }
      return "<polyline class=\"\(style)\" points=\"\(points.joined(separator: " "))\"/>"
    }
    let curves = [curve("curve peak") { Double($0.latencyMaximum) }, curve("curve") { $0.latencyMean }]
    return frame.picture(
      "Latency over time",
      x: "time since the warm-up",
      y: "latency",
      frame.scale { Figure.time($0 * largest) } + curves + times(frame, series)
    )
  }

  /// The length of an interval in seconds; the last one may be incomplete. One that has hardly begun contains only ends
  /// of earlier calls, from which no rate follows.
  private static func lasting(_ index: Int, _ series: TimeSeries, _ length: UInt64) -> Double {
    let begin = UInt64(index) &* series.length
    let rest = length > begin ? length - begin : series.length
    return Double(rest >= series.length / 2 ? min(rest, series.length) : series.length) / 1e9
  }

  private static func times(_ frame: Frame, _ series: TimeSeries) -> [String] {
    let total = Double(series.length) * Double(series.intervals.count)
    return [0, 0.25, 0.5, 0.75, 1].map { frame.mark($0, Figure.time($0 * total)) }
  }
}
