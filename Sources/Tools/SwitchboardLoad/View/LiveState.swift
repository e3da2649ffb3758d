import SwitchboardCall
import SwitchboardText

/// What is displayed during a run.
package struct LiveState: Sendable {
  package var method: String
  package var target: String
  package var load: String
  package var isWarmingUp = false
  /// The elapsed time in nanoseconds.
  package var elapsed: UInt64 = 0
  /// The share of the run that is over, from 0 to 1; nil if the run has no end.
  package var share: Double?
  /// All measurements so far.
  package var total = LoadTally()
  /// The latencies since the previous update, and the calls per second.
  package var recent = LatencyHistogram()
  package var recentRate = 0.0

  package init(method: String, target: String, load: String) {
    self.method = method
    self.target = target
    self.load = load
  }

  /// Updates to a new state of the run, at `now` nanoseconds after its start.
  package mutating func advance(to tally: LoadTally, elapsed now: UInt64, share: Double?) {
    let time = now > elapsed ? now - elapsed : 1
    let latest = tally.latency.since(total.latency)
    if latest.count > 0 { recent = latest }
    recentRate = Double(latest.count) * 1e9 / Double(time)
    total = tally
    elapsed = now
    self.share = share
  }
}

/// A progress line that is redrawn in place.
package enum LiveLine {
  package static func text(_ state: LiveState, width: Int, ink: Ink) -> String {
    var parts = [Figure.decimal(Double(state.elapsed) / 1e9, places: 0) + "s"]
    if state.isWarmingUp {
      parts.append("warming up")
    } else {
      parts.append(Figure.rate(state.recentRate))
      parts.append("p50 \(Figure.time(state.recent.quantile(0.5)))")
      parts.append("p99 \(Figure.time(state.recent.quantile(0.99)))")
      parts.append("errors \(Figure.grouped(Double(state.total.errors)))")
    }
    let text = parts.joined(separator: "  ")
    let room = width - text.count - 4
    guard let share = state.share, room >= 10 else { return String(text.prefix(max(0, width - 1))) }
    return "\(text)  [\(progress(share, width: min(room - 2, 30)))]"
  }

  static func progress(_ share: Double, width: Int) -> String {
    let filled = Int(min(max(share, 0), 1) * Double(width))
    return String(repeating: "=", count: filled) + String(repeating: " ", count: width - filled)
  }
}

/// A full screen with a live histogram.
package enum LiveScreen {
  /// The smallest terminal that it fits on.
  package static let smallest = (width: 50, height: 16)

  package static func lines(_ state: LiveState, width: Int, height: Int, ink: Ink) -> [String] {
    var lines = [
      ink.bold(clipped("\(state.method) at \(state.target)", width)), clipped(state.load, width), "",
      clipped(state.isWarmingUp ? "warming up" : "", width),
      clipped("  now    \(Figure.rate(state.recentRate))\(percentiles(state.recent))", width),
      clipped("  total  \(Figure.rate(state.total.rate))\(percentiles(state.total.latency))", width),
      errors(state, width, ink), "",
    ]
    let rows = max(3, height - lines.count - 3)
    let bins = LatencyBins(state.recent, count: rows)
    for bin in bins.bins {
      let label = TextReport.padded(Figure.time(bin.high), to: 10, left: true)
      let share = Double(bin.calls) / Double(max(1, bins.largest))
      lines.append("\(label) \(ink.blue(Bar.text(share, width: max(1, width - 14))))")
    }
    while lines.count < height - 2 { lines.append("") }
    let share = state.share.map { LiveLine.progress($0, width: max(1, width - 14)) } ?? ""
    let time = TextReport.padded(Figure.time(Double(state.elapsed)), to: 10, left: true)
    lines.append(state.share == nil ? time : "\(time) [\(share)]")
    lines.append(clipped("Ctrl-C stops and reports; twice, it ends at once", width))
    return Array(lines.suffix(height))
  }

  private static func percentiles(_ histogram: LatencyHistogram) -> String {
    [50, 90, 99, 99.9].map { "   p\(Figure.short($0)) \(Figure.time(histogram.quantile($0 / 100)))" }.joined()
  }

  private static func errors(_ state: LiveState, _ width: Int, _ ink: Ink) -> String {
    let (calls, errors) = (Double(state.total.calls), Double(state.total.errors))
    let text = clipped("  calls  \(Figure.grouped(calls))   errors \(Figure.grouped(errors))", width)
    return errors > 0 ? ink.red(text) : text
  }

  private static func clipped(_ text: String, _ width: Int) -> String {
    String(text.withControlsEscaped.prefix(max(0, width - 1)))
  }
}
