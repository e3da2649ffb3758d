import LoadMessages
import SwitchboardCall
import SwitchboardText

/// A report as lines of `section,name,value,unit`, which spreadsheets and scripts can filter.
package enum CSVReport {
  package static func text(_ report: LoadTestReport, _ tally: LoadTally) -> String {
    var lines = ["section,name,value,unit"]
    func add(_ section: String, _ name: String, _ value: String, _ unit: String) {
      lines.append([section, name, value, unit].map(field).joined(separator: ","))
    }
    let summary = report.summary
    add("run", "target", report.target, "")
    add("run", "method", report.method, "")
    add("run", "started", report.started, "")
    add("run", "load", report.load, "")
    add("summary", "duration", number(summary.seconds), "s")
    add("summary", "calls", number(summary.calls), "calls")
    add("summary", "errors", number(summary.errors), "calls")
    add("summary", "missed", "\(tally.missed)", "calls")
    add("summary", "rate", number(summary.callsPerSecond), "calls/s")
    add("latency", "min", number(summary.minimum), "ms")
    add("latency", "mean", number(summary.mean), "ms")
    add("latency", "deviation", number(summary.deviation), "ms")
    add("latency", "max", number(summary.maximum), "ms")
    let percentiles = [
      ("latency", summary.percentiles), ("latency of OK", summary.succeeded),
      ("latency of failed", summary.failed), ("service time", summary.serviceTime),
    ]
    for (section, values) in percentiles {
      for value in values {
        add(section, "p\(Figure.short(value.percent))", number(value.latency), "ms")
      }
    }
    for (code, count) in tally.statuses.enumerated() where count.calls > 0 {
      add("status", StatusName.of(code), "\(count.calls)", "calls")
      for message in count.samples { add("message", StatusName.of(code), message, "") }
    }
    let seconds = Double(tally.series.length) / 1e9
    for (index, interval) in tally.series.intervals.enumerated() {
      let time = number(Double(index) * seconds)
      add("calls by second", time, "\(interval.calls)", "calls")
      add("errors by second", time, "\(interval.errors)", "calls")
      add("mean latency by second", time, number(interval.latencyMean / 1e6), "ms")
      add("max latency by second", time, number(Double(interval.latencyMaximum) / 1e6), "ms")
    }
    return lines.joined(separator: "\n") + "\n"
  }

  private static func number(_ value: Double) -> String {
    Figure.short(value)
  }

  /// Quotes a field where necessary (RFC 4180). A leading character that starts a formula in spreadsheets is escaped.
  private static func field(_ text: String) -> String {
    let line = text.withControlsEscaped
    let safe =
      ["=", "+", "@", "-"].contains(where: line.hasPrefix) && Double(line) == nil ? "'\(line)" : line
    // By bytes: a mark after a comma makes one character of both.
    let quote = UInt8(ascii: "\"")
    guard safe.utf8.contains(where: { $0 == UInt8(ascii: ",") || $0 == quote }) else { return safe }
    let doubled = safe.utf8.flatMap { $0 == quote ? [quote, quote] : [$0] }
    return "\"\(String(decoding: doubled, as: UTF8.self))\""
  }
}
