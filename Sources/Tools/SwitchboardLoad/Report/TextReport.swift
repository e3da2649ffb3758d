import LoadMessages
import SwitchboardCall
import SwitchboardText

/// A report for a terminal.
package struct TextReport: Sendable {
  private let report: LoadTestReport
  private let tally: LoadTally
  private let ink: Ink

  package init(_ report: LoadTestReport, _ tally: LoadTally, ink: Ink = Ink(isColored: false)) {
    self.report = report
    self.tally = tally
    self.ink = ink
  }

  package var text: String {
    var lines = [
      ink.bold("\(report.method) at \(report.target)".withControlsEscaped),
      "  \(report.load.withControlsEscaped)", "",
    ]
    lines += figures
    lines += ["", ink.bold("Status")] + statuses
    if tally.calls > 0 { lines += ["", ink.bold("Latency")] + histogram(width: 40) }
    return lines.joined(separator: "\n") + "\n"
  }

  private var figures: [String] {
    let latency = tally.latency
    var lines = [
      row("Calls", calls),
      row("Rate", Figure.rate(tally.rate)),
      row("Errors", errors),
      row("Latency", LatencyColumns.meaning(tally)),
      row(
        "",
        "min \(Figure.time(Double(latency.minimum)))   mean \(Figure.time(latency.mean))   "
          + "max \(Figure.time(Double(latency.maximum)))   deviation \(Figure.time(latency.deviation))"
      ),
    ]
    lines += percentiles.map { row("", $0) }
    if tally.responses != tally.calls - tally.errors || tally.requests != tally.calls {
      let (sent, received) = (Double(tally.requests), Double(tally.responses))
      lines.append(row("Messages", "\(Figure.grouped(sent)) sent, \(Figure.grouped(received)) received"))
    }
    if tally.lateness.count > 0 {
      let late = tally.lateness
      let text = "calls were started \(time(late, 50)) (p50), \(time(late, 99)) (p99) after they were due"
      lines.append(row("Lateness", tally.isGeneratorLate ? ink.red(text) : text))
    }
    if tally.missed > 0 {
      let missed = Figure.grouped(Double(tally.missed))
      lines.append(row("Missed", ink.red("\(missed) calls were due but too many others were in progress")))
    }
    return lines
  }

  /// A line for each percentile, below the names of the columns if there are several.
  private var percentiles: [String] {
    let columns = LatencyColumns(tally)
    func line(_ name: String, _ cells: [String]) -> String {
      let row = Self.padded(name, to: 8) + cells.map { Self.padded($0, to: 13) }.joined()
      return String(row.reversed().drop { $0 == " " }.reversed())
    }
    let names = columns.columns.count > 1 ? [line("", columns.columns.map(\.name))] : []
    return names + LoadTestReport.percents.map { line("p\(Figure.short($0))", columns.values($0)) }
  }

  private var calls: String {
    let all = Figure.grouped(Double(tally.calls))
    let time = Figure.time(Double(tally.length))
    let last = tally.calls - tally.timely
    guard last > 0 else { return "\(all) in \(time)" }
    return "\(all), of which \(Figure.grouped(Double(last))) ended after the \(time) of the rate"
  }

  private func time(_ histogram: LatencyHistogram, _ percent: Double) -> String {
    Figure.time(histogram.quantile(percent / 100))
  }

  private var errors: String {
    guard tally.errors > 0 else { return "0" }
    let share = Figure.decimal(tally.errorShare * 100, places: 3)
    return ink.red("\(Figure.grouped(Double(tally.errors))) (\(share)%)")
  }

  private var statuses: [String] {
    tally.statuses.enumerated().filter { $0.element.calls > 0 }.flatMap { code, count in
      let name = Self.padded(StatusName.of(code), to: 20)
      let calls = Self.padded(Figure.grouped(Double(count.calls)), to: 14, left: true)
      let samples = count.samples.map(\.withControlsEscaped)
      let first = samples.first.map { "  \($0)" } ?? ""
      return ["  \(code == 0 ? ink.green(name) : ink.red(name))\(calls)\(first)"]
        + samples.dropFirst().map { Self.padded("", to: 38) + $0 }
    }
  }

  private func histogram(width: Int) -> [String] {
    let bins = LatencyBins(tally.latency, count: 14)
    let axes =
      Self.padded("from", to: 10, left: true) + "  " + Self.padded("to", to: 10, left: true)
      + Self.padded("calls", to: 14, left: true)
    return [axes]
      + bins.bins.map { bin in
        let low = Self.padded(Figure.time(bin.low), to: 10, left: true)
        let high = Self.padded(Figure.time(bin.high), to: 10, left: true)
        let calls = Self.padded(Figure.grouped(Double(bin.calls)), to: 14, left: true)
        let bar = Bar.text(Double(bin.calls) / Double(max(1, bins.largest)), width: width)
        return "\(low) -\(high)\(calls)  \(ink.blue(bar))"
      }
  }

  private func row(_ name: String, _ value: String) -> String {
    "  \(Self.padded(name, to: 10))\(value)"
  }

  static func padded(_ text: String, to width: Int, left: Bool = false) -> String {
    let space = String(repeating: " ", count: max(0, width - text.count))
    return left ? space + text : text + space
  }
}

/// Colors, if the terminal supports them.
package struct Ink: Sendable {
  package let isColored: Bool

  package init(isColored: Bool) { self.isColored = isColored }

  package func bold(_ text: String) -> String { code(1, text) }
  package func red(_ text: String) -> String { code(31, text) }
  package func green(_ text: String) -> String { code(32, text) }
  package func blue(_ text: String) -> String { code(34, text) }

  private func code(_ number: Int, _ text: String) -> String {
    isColored ? "\u{1b}[\(number)m\(text)\u{1b}[0m" : text
  }
}

/// A bar of a histogram, to an eighth of a character.
enum Bar {
  static func text(_ share: Double, width: Int) -> String {
    let eighths = Int((min(max(share, 0), 1) * Double(width * 8)).rounded(.up))
    let parts = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"]
    return String(repeating: "█", count: eighths / 8) + parts[eighths % 8]
  }
}
