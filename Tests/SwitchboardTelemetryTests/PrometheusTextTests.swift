import Switchboard
import SwitchboardCall
import TestSupport
import Testing

@testable import SwitchboardTelemetry

/// Whatever a program calls its metrics and labels, Prometheus accepts the page.
@Suite(.mayBlock, .timeLimit(.minutes(5))) struct PrometheusTextTests {
  private struct Dice: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return state ^ state >> 29
    }
  }

  private static let names = [
    "", "_", "_total", "__total", "x", "x_total", "x.total", "x_created", "x_seconds", "h", "h_count",
    "h.sum",
    "h_bucket", "h_seconds_count", "target", "target_info", "target.info", "9", "é", "é_total", "x\ny", "x y",
  ]
  private static let keys = [
    "a.b", "a_b", "a-b", "a.x", "a_y", "a_x", "a.y", "", "_", "é", "1", "le", "key_le", "quantile",
    "__name__",
    "otel.metric.overflow",
  ]
  private static let values: [AttributeValue] = [
    1, "1", .double(1), true, "true", "", "a\"b\\c\nd\r\u{0}\u{2028}}", ",x=\"", .strings(["a", "b"]), "a,b",
    .strings([]), "=\"\"",
  ]

  private func metrics(_ dice: inout Dice) -> TelemetryMetrics {
    let metrics = TelemetryMetrics(TelemetryClock(), limit: 100)
    for _ in 0..<12 {
      let name = Self.names.randomElement(using: &dice) ?? ""
      let unit = ["1", "s", "By"].randomElement(using: &dice) ?? ""
      let kind = Int.random(in: 0..<4, using: &dice)
      for _ in 0..<6 {
        var labels: [String: AttributeValue] = [:]
        for _ in 0..<Int.random(in: 0..<4, using: &dice) {
          labels[Self.keys.randomElement(using: &dice) ?? ""] = Self.values.randomElement(using: &dice)
        }
        switch kind {
        case 0: metrics.counter(name, unit: unit, "a\nb").add(1, labels)
        case 1: metrics.upDownCounter(name, unit: unit).add(1, labels)
        case 2: metrics.gauge(name, unit: unit).set(1, labels)
        default: metrics.histogram(name, unit: unit, bounds: [1, 2]).record(1, labels)
        }
      }
    }
    return metrics
  }

  private let resource = Resource(
    serviceName: "test",
    attributes: ["a.b": "1", "a_b": "2", "le": "3", "": "4"]
  )

  private static let suffixes = [
    "counter": ["_total", "_created"], "gauge": [""], "info": ["_info"],
    "histogram": ["_bucket", "_sum", "_count", "_created"],
  ]

  /// What a strict reader finds wrong with a page.
  private func faults(of page: String, isOpen: Bool) -> [String] {
    var faults: [String] = []
    var owners: [String: Int] = [:]
    var (family, samples, series): (Int, Set<String>, Set<String>) = (0, [], [])
    func check(_ isRight: Bool, _ fault: String) { if !isRight { faults.append(fault) } }
    for line in page.split(separator: "\n", omittingEmptySubsequences: false).dropLast().map(String.init) {
      if line.hasPrefix("# TYPE ") {
        let words = line.split(separator: " ", omittingEmptySubsequences: false).map(String.init)
        check(words.count == 4 && !words[2].isEmpty, line)
        family += 1
        let (name, type) = (words[2], words[3])
        let base = !isOpen && type == "counter" ? String(name.dropLast("_total".count)) : name
        samples = Set((Self.suffixes[type] ?? []).map { base + $0 })
        for taken in samples.union([base]) { check(owners.updateValue(family, forKey: taken) == nil, line) }
      } else if !line.hasPrefix("#") {
        let name = String(line.prefix { $0 != "{" && $0 != " " })
        check(samples.contains(name) && name.wholeMatch(of: /[a-zA-Z_:][a-zA-Z0-9_:]*/) != nil, line)
        var rest = line.dropFirst(name.count)
        var labels: [String] = []
        if rest.first == "{" {
          while rest.first != "}",
            let match = rest.dropFirst().prefixMatch(of: /([a-zA-Z_]\w*)="((?:[^"\\]|\\.)*)"/)
          {
            labels.append("\(match.1)=\(match.2)")
            rest = rest.dropFirst().dropFirst(match.0.count)
          }
          check(rest.first == "}", line)
          rest = rest.dropFirst()
        }
        check(Set(labels.map { $0.prefix { $0 != "=" } }).count == labels.count, line)
        check(rest.wholeMatch(of: /\ [0-9.e+-]+/) != nil, line)
        let identity = labels.filter { !$0.hasSuffix("=") }.sorted().joined(separator: ",")
        check(series.insert("\(name){\(identity)").inserted, "twice: \(line)")
      }
    }
    return faults
  }

  @Test func anyNamesAndLabelsMakeAValidPage() {
    for seed in 0..<100 {
      var dice = Dice(state: UInt64(seed))
      let snapshot = metrics(&dice).snapshot()
      for format in [PrometheusText.Format.plain, .openMetrics] {
        let page = PrometheusText.text(snapshot, resource, format).text
        #expect(faults(of: page, isOpen: format == .openMetrics).isEmpty, "seed \(seed)")
      }
    }
  }

  /// Debian's `promtool`, which fails with 1 for a page that it cannot read, and with 3 for names that it does not like.
  @Test func prometheusReadsAnyNames() throws {
    for seed in 0..<10 {
      var dice = Dice(state: UInt64(seed))
      let page = PrometheusText.text(metrics(&dice).snapshot(), resource, .plain).text
      let tool = try ChildProcess(
        "/usr/bin/promtool",
        ["check", "metrics"],
        output: .discarded,
        errors: .discarded
      )
      tool.write(page)
      tool.stop()
      #expect([0, 3].contains(tool.exitCode()), "seed \(seed)")
    }
  }

  @Test func seriesWithTheSameLabelsCountTogether() throws {
    let metrics = TelemetryMetrics(TelemetryClock(), limit: 100)
    let counter = metrics.counter("c")
    counter.add(1, ["k.a": 1])
    counter.add(2, ["k.a": "1"])
    counter.add(4, ["k_a": "1", "none": ""])
    let histogram = metrics.histogram("h", bounds: [1])
    histogram.record(1, ["k": true])
    histogram.record(2, ["k": "true"])
    metrics.gauge("g").set(1, ["k": 1])
    metrics.gauge("g").set(1, ["k": "1"])
    let page = PrometheusText.text(metrics.snapshot(), resource, .plain).text
    let lines = page.split(separator: "\n").filter { !$0.hasPrefix("#") }.dropFirst()
    #expect(
      lines == [
        "c_total{k_a=\"1\"} 7", "h_bucket{k=\"true\",le=\"1\"} 1", "h_bucket{k=\"true\",le=\"+Inf\"} 2",
        "h_sum{k=\"true\"} 3", "h_count{k=\"true\"} 2", "g{k=\"1\"} 1",
      ]
    )
  }

  @Test(arguments: [
    ("x", "x_total"), ("x", "x_created"), ("h", "h_count"), ("h", "h.sum"), ("h", "h_bucket"),
    ("y", "target.info"), ("y", "target"),
  ])
  func aMetricWhoseNamesAreTakenIsLeftOut(_ first: String, _ second: String) {
    let metrics = TelemetryMetrics(TelemetryClock(), limit: 100)
    if first == "h" { metrics.histogram(first).record(1) } else { metrics.counter(first).add(1) }
    metrics.gauge(second).set(1)
    for format in [PrometheusText.Format.plain, .openMetrics] {
      #expect(PrometheusText.text(metrics.snapshot(), resource, format).missing == [second])
    }
  }

  @Test func namesAndTextsOfLabelsAreCut() {
    let metrics = TelemetryMetrics(TelemetryClock(), limit: 100)
    let long = String(repeating: "k", count: 100_000)
    let counter = metrics.counter("c")
    for number in 0..<10 { counter.add(1, ["\(long)\(number)": "v"]) }
    counter.add(1, ["a\(long)": .strings([String](repeating: String(repeating: "s", count: 100), count: 64))])
    counter.add(1, ["b\(long)1": "first", "b\(long)2": "second"])
    let page = PrometheusText.text(metrics.snapshot(), resource, .plain).text
    let lines = page.split(separator: "\n").filter { $0.hasPrefix("c_total") }
    #expect(lines.count == 3)
    #expect(lines.allSatisfy { $0.utf8.count < 550 })
    #expect(lines.contains { $0.hasSuffix("k=\"first\"} 1") })
    #expect(lines.contains { $0.hasSuffix("k=\"v\"} 10") })
  }
}
