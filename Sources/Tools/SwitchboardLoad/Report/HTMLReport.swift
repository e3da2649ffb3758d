import LoadMessages
import SwitchboardCall
import SwitchboardText

/// A report as one self-contained page: without scripts, and without external fonts or images.
package struct HTMLReport: Sendable {
  private let report: LoadTestReport
  private let tally: LoadTally

  package init(_ report: LoadTestReport, _ tally: LoadTally) {
    self.report = report
    self.tally = tally
  }

  package var text: String {
    """
    <!doctype html>
    <html lang="en">
    <head>
    <meta charset="utf-8">
    <meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta name="color-scheme" content="light dark">
    <title>Load: \(Self.escaped(report.method))</title>
    <style>\(Self.style)</style>
    </head>
    <body>
    <header>
    <h1>\(Self.escaped(report.method))</h1>
    <p>\(Self.escaped(report.target)) · \(Self.escaped(report.load)) · \(Self.escaped(report.started))</p>
    </header>
    <main>
    <section class="figures">
    \(figures)
    </section>
    \(charts)
    \(percentiles)
    \(statuses)
    </main>
    </body>
    </html>

    """
  }

  private static let style = """
    :root { --page: #fff; --text: #1c2733; --soft: #5d6b7a; --line: #d8dee5; --blue: #1f6feb; --red: #c62828;
      --tile: #f5f7fa; }
    @media (prefers-color-scheme: dark) {
      :root { --page: #11161c; --text: #e4e9ef; --soft: #9aa7b4; --line: #2d3742; --blue: #6cb0ff; --red: #ff7b72;
        --tile: #1a212a; } }
    * { box-sizing: border-box; }
    body { margin: 0; background: var(--page); color: var(--text);
      font: 15px/1.5 system-ui, sans-serif; font-variant-numeric: tabular-nums; }
    header, main { max-width: 66rem; margin: 0 auto; padding: 1.2rem 1.5rem 0; }
    h1 { margin: 0; font-size: 1.5rem; overflow-wrap: anywhere; }
    h2 { font-size: 1rem; margin: 1.8rem 0 .5rem; }
    p { margin: .2rem 0; color: var(--soft); }
    .figures { display: grid; grid-template-columns: repeat(auto-fit, minmax(9rem, 1fr)); gap: .7rem; }
    .figures div { background: var(--tile); border-radius: .5rem; padding: .6rem .9rem; }
    .figures b { display: block; font-size: 1.25rem; }
    .figures span { color: var(--soft); font-size: .85rem; }
    .bad b { color: var(--red); }
    svg { width: 100%; height: auto; display: block; }
    svg text { fill: var(--soft); font-size: 12px; }
    .axis { stroke: var(--line); } .bar { fill: var(--blue); } .bad-bar { fill: var(--red); }
    .curve { fill: none; stroke: var(--blue); stroke-width: 2; } .peak { stroke: var(--red); }
    table { border-collapse: collapse; width: 100%; }
    td, th { text-align: right; padding: .3rem .6rem; border-bottom: 1px solid var(--line); font-weight: normal; }
    td:first-child, th:first-child, .words { text-align: left; overflow-wrap: anywhere; }
    th { color: var(--soft); }
    """

  private var figures: String {
    var tiles = [
      ("Rate", Figure.rate(tally.rate), false),
      ("Calls", Figure.grouped(Double(tally.calls)), false),
      (
        "Errors",
        "\(Figure.grouped(Double(tally.errors))) (\(Figure.decimal(tally.errorShare * 100, places: 2))%)",
        tally.errors > 0
      ),
      ("Median", Figure.time(tally.latency.quantile(0.5)), false),
      ("p99", Figure.time(tally.latency.quantile(0.99)), false),
      ("Mean", Figure.time(tally.latency.mean), false),
      ("Maximum", Figure.time(Double(tally.latency.maximum)), false),
      ("Duration", Figure.time(Double(tally.length)), false),
    ]
    if tally.missed > 0 { tiles.append(("Missed", Figure.grouped(Double(tally.missed)), true)) }
    if tally.lateness.count > 0 {
      tiles.append(("Lateness p99", Figure.time(tally.lateness.quantile(0.99)), tally.isGeneratorLate))
    }
    return tiles.map { name, value, isBad in
      "<div\(isBad ? " class=\"bad\"" : "")><b>\(value)</b><span>\(name)</span></div>"
    }.joined(separator: "\n")
  }

  private var charts: String {
    guard tally.calls > 0 else { return "<p>No call ended.</p>" }
    let drawn = [
      ("Latency", LoadCharts.histogram(tally.latency)),
      ("Percentiles", LoadCharts.percentiles(tally.latency)),
      ("Calls per second, failed ones in red", LoadCharts.rate(tally.series, length: tally.length)),
      (
        "Latency over time: mean, and the maximum in red",
        LoadCharts.latency(tally.series, length: tally.length)
      ),
    ]
    return drawn.map { "<section><h2>\($0)</h2>\n\($1)</section>" }.joined(separator: "\n")
  }

  private var percentiles: String {
    let columns = LatencyColumns(tally)
    func row(_ cell: String, _ cells: [String]) -> String {
      "<tr>" + cells.map { "<\(cell)>\($0)</\(cell)>" }.joined() + "</tr>"
    }
    let rows =
      [row("th", ["Percentile"] + columns.columns.map(\.name))]
      + LoadTestReport.percents.map { row("td", ["p\(Figure.short($0))"] + columns.values($0)) }
    return "<section><h2>Latency by percentile, \(Self.escaped(LatencyColumns.meaning(tally)))</h2>"
      + "<table>\(rows.joined(separator: "\n"))</table></section>"
  }

  private var statuses: String {
    let rows = tally.statuses.enumerated().filter { $0.element.calls > 0 }.map { code, count in
      "<tr><td>\(StatusName.of(code))</td><td>\(Figure.grouped(Double(count.calls)))</td>"
        + "<td class=\"words\">\(count.samples.map(Self.escaped).joined(separator: "<br>"))</td></tr>"
    }
    return
      "<section><h2>Status</h2><table><tr><th>Status</th><th>Calls</th><th class=\"words\">What their messages say</th></tr>"
      + "\(rows.joined(separator: "\n"))</table></section>"
  }

  /// Escapes text for elements and attributes.
  static func escaped(_ text: String) -> String {
    var escaped = ""
    for scalar in text.withControlsEscaped.unicodeScalars {
      switch scalar {
      case "&": escaped += "&amp;"
      case "<": escaped += "&lt;"
      case ">": escaped += "&gt;"
      case "\"": escaped += "&quot;"
      case "'": escaped += "&#39;"
      default: escaped.unicodeScalars.append(scalar)
      }
    }
    return escaped
  }
}
