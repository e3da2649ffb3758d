import LoadMessages
import SwitchboardCall
import Testing

@testable import SwitchboardLoad

struct ReportTests {
  private static func report(_ message: String = "") -> (LoadTestReport, LoadTally) {
    var tally = TallyTests.tally(calls: 3000)
    let status = GRPCStatus(code: .internalError, message: message)
    tally.add(EndedLoadCall(latency: 9_000_000, status: status), at: 1)
    let report = LoadTestReport(
      tally,
      target: "<host>&",
      method: "shop.Shop/Get",
      started: "now",
      load: "\"some\""
    )
    return (report, tally)
  }

  @Test func aPageIsSelfContained() {
    let (report, tally) = Self.report("<script>alert('x')</script>")
    let page = HTMLReport(report, tally).text
    for needed in ["<svg", "default-src 'none'", "prefers-color-scheme: dark", "&lt;host&gt;&amp;", "p99.99"]
    {
      #expect(page.contains(needed), "\(needed)")
    }
    for absent in ["<script", "http:", "https:", "src=", "url(", "@import", "<link", "<host"] {
      #expect(!page.contains(absent), "\(absent)")
    }
    #expect(page.split(separator: "<svg").count == 5)
  }

  @Test func aRunWithoutCallsHasAPageToo() {
    let report = LoadTestReport(LoadTally(), target: "t", method: "m", started: "", load: "")
    let page = HTMLReport(report, LoadTally()).text
    #expect(page.contains("No call ended."))
    #expect(!page.contains("nan") && !page.contains("inf"))
    #expect(TextReport(report, LoadTally()).text.contains("Calls     0"))
  }

  /// The contrast of text that the Web Content Accessibility Guidelines ask for, in both schemes.
  @Test func textIsReadableInDarkAndLight() throws {
    let (report, tally) = Self.report()
    let page = HTMLReport(report, tally).text
    let schemes = page.split(separator: ":root {").dropFirst()
    #expect(schemes.count == 2)
    for scheme in schemes {
      let page = try #require(Self.brightness("page", in: scheme))
      let tile = try #require(Self.brightness("tile", in: scheme))
      for name in ["text", "soft", "red"] {
        let text = try #require(Self.brightness(name, in: scheme))
        for ground in [page, tile] {
          let contrast = (max(text, ground) + 0.05) / (min(text, ground) + 0.05)
          #expect(contrast >= 4.5, "\(name): \(contrast)")
        }
      }
    }
  }

  /// The relative luminance of a color.
  private static func brightness(_ name: String, in scheme: Substring) -> Double? {
    guard let range = scheme.firstRange(of: "--\(name): #") else { return nil }
    var digits = scheme[range.upperBound...].prefix { $0.isHexDigit }.map { String($0) }
    if digits.count == 3 { digits = digits.flatMap { [$0, $0] } }
    guard digits.count == 6 else { return nil }
    let parts = stride(from: 0, to: 6, by: 2).compactMap { Int(digits[$0] + digits[$0 + 1], radix: 16) }
    let linear = parts.map { part in
      let share = Double(part) / 255
      return share <= 0.04045
        ? share / 12.92 : Root.exponential(2.4 * Root.logarithm((share + 0.055) / 1.055))
    }
    return linear.count == 3 ? 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2] : nil
  }

  @Test func binsHaveAllCalls() {
    let tally = TallyTests.tally(calls: 5000)
    for count in [1, 7, 60] {
      let bins = LatencyBins(tally.latency, count: count)
      #expect(bins.bins.count == count)
      #expect(bins.bins.reduce(0) { $0 + $1.calls } == 5000)
    }
    #expect(LatencyBins(LatencyHistogram(), count: 5).bins.isEmpty)
  }

  @Test func linesFitTheirTerminals() {
    var state = LiveState(method: "a/B", target: "t\u{1b}[2J", load: "load")
    state.advance(to: TallyTests.tally(calls: 2000), elapsed: 2_000_000_000, share: 0.5)
    for width in [0, 5, 20, 50, 80, 200] {
      #expect(LiveLine.text(state, width: width, ink: Ink(isColored: false)).count < max(1, width))
      for height in [5, 16, 50] {
        let lines = LiveScreen.lines(state, width: width, height: height, ink: Ink(isColored: false))
        #expect(lines.count <= height)
        if width >= LiveScreen.smallest.width { #expect(lines.allSatisfy { $0.count <= width }, "\(width)") }
        #expect(!lines.joined().contains("\u{1b}"))
      }
    }
    #expect(LiveLine.text(state, width: 100, ink: Ink(isColored: false)).contains("1,000/s"))
  }

  @Test func recentCallsAreThoseSinceTheLastTime() {
    var state = LiveState(method: "m", target: "t", load: "")
    var tally = LoadTally()
    for _ in 0..<100 { tally.add(EndedLoadCall(latency: 1_000_000), at: 1) }
    state.advance(to: tally, elapsed: 1_000_000_000, share: nil)
    for _ in 0..<50 { tally.add(EndedLoadCall(latency: 5_000_000), at: 2) }
    state.advance(to: tally, elapsed: 2_000_000_000, share: nil)
    #expect(state.recentRate == 50)
    #expect(abs(state.recent.quantile(0.5) - 5e6) < 5e4)
    #expect(state.total.calls == 150)
  }
}
