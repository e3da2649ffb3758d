import OTLPMessages
import Switchboard
import SwitchboardCall
import SwitchboardProtobuf
import Testing

@testable import SwitchboardTelemetry

/// Logs and metrics as text.
@Suite(.timeLimit(.minutes(5))) struct FormatTests {
  private let record = LogRecord(
    date: 1_763_901_940_123_456_789,
    level: .warning,
    message: "two\nlines \"quoted\" \u{1b}[31m",
    attributes: [
      Attribute("level", "own"), Attribute("a b", "x y"), Attribute("empty", ""), Attribute("n", 3),
    ],
    context: SpanContext(traceID: TraceID(high: 0x0af7, low: 1), spanID: SpanID(2), isSampled: true)
  )

  /// OTLP's flags say whether the parent of a span, or what a link leads to, belongs to another process.
  @Test func flagsSayWhatIsRemote() async throws {
    let exporter = CapturingExporter()
    let telemetry = try Telemetry.capturing(exporter)
    let parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
    let remote = try #require(SpanContext(traceParent: parent))
    let root = telemetry.tracer.startSpan("root")
    let local = telemetry.tracer.startSpan("local", parent: root.context)
    let far = telemetry.tracer.startSpan("far", parent: remote)
    far.link(to: remote)
    far.link(to: root.context)
    for span in [root, local, far] { span.end() }
    await telemetry.flush()
    let encoder = OTLPEncoder(clock: TelemetryClock(), isForJSON: false)
    let spans = exporter.spans.map { encoder.span($0) }
    #expect(spans.map { $0.flags } == [0x101, 0x101, 0x301])
    #expect(spans.last?.links.map { $0.flags } == [0x301, 0x101])
    await telemetry.shutDown()
  }

  @Test func entriesAreOneLineInEachFormat() {
    #expect(
      LogFormat.jsonLines.line(record)
        == #"{"time":"2025-11-23T12:45:40.123456Z","level":"WARN","message":"two\nlines \"quoted\" \u001b[31m","#
        + #""trace_id":"0000000000000af70000000000000001","span_id":"0000000000000002","_level":"own","a b":"x y","empty":"","n":"3"}"#
    )
    #expect(
      LogFormat.logfmt.line(record)
        == #"time=2025-11-23T12:45:40.123456Z level=WARN msg="two\nlines \"quoted\" \u001b[31m" "#
        + #"trace_id=0000000000000af70000000000000001 span_id=0000000000000002 _level=own a_b="x y" empty="" n=3"#
    )
    #expect(
      LogFormat.pretty(isColored: false).line(record)
        == #"12:45:40.123 WARN  two\nlines "quoted" \u{1B}[31m  level=own  a_b=x y  empty=  n=3  trace=00000000"#
    )
    #expect(LogFormat.pretty(isColored: true).line(record).contains("\u{1b}[33mWARN \u{1b}[0m two\\n"))
  }

  @Test(arguments: [
    (0, "1970-01-01T00:00:00.000000Z"), (951_782_400, "2000-02-29T00:00:00.000000Z"),
    (4_107_542_399, "2100-02-28T23:59:59.000000Z"), (4_107_542_400, "2100-03-01T00:00:00.000000Z"),
  ]) func datesFollowTheCalendar(_ seconds: UInt64, _ text: String) {
    #expect(LogFormat.timestamp(seconds * 1_000_000_000) == text)
  }

  @Test func logsCarryTheSpanOfTheirTask() async throws {
    let exporter = CapturingExporter()
    let telemetry = try Telemetry.capturing(exporter)
    let log = Logger(TelemetryLog(telemetry, descriptor: nil))
    let id = await telemetry.tracer.withSpan("step") { span in
      log.log(.info, "inside", ["key": "value"])
      return span.context.spanID
    }
    log.log(.info, "outside")
    await telemetry.flush()
    #expect(exporter.logs.map(\.message) == ["inside", "outside"])
    #expect(exporter.logs.map { $0.context?.spanID } == [id, nil])
    #expect(exporter.logs.first?.attributes == [Attribute("key", "value")])
    await telemetry.shutDown()
  }

  @Test func metricNamesFollowPrometheus() async throws {
    let telemetry = try Telemetry.capturing(CapturingExporter()) { $0.cardinalityLimit = 3 }
    telemetry.metrics.counter("shop.orders", unit: "{order}", "orders \"placed\"\nso far").add(
      2,
      ["shop.country": "D\"E\\\n"]
    )
    telemetry.metrics.gauge("9lives", unit: "Cel").set(36.6)
    telemetry.metrics.histogram("size", unit: "By", bounds: [1, 10]).record(5)
    telemetry.metrics.counter("shop.orders").add(-1)
    #expect(telemetry.lines("shop_orders") == ["shop_orders_total{shop_country=\"D\\\"E\\\\\\n\"} 2"])
    #expect(telemetry.lines("# TYPE shop_orders") == ["# TYPE shop_orders_total counter"])
    #expect(telemetry.lines("# HELP shop_orders") == ["# HELP shop_orders_total orders \"placed\"\\nso far"])
    #expect(telemetry.lines("_9lives") == ["_9lives_celsius 36.6"])
    #expect(
      telemetry.lines("size_bytes") == [
        "size_bytes_bucket{le=\"1\"} 0", "size_bytes_bucket{le=\"10\"} 1", "size_bytes_bucket{le=\"+Inf\"} 1",
        "size_bytes_sum 5", "size_bytes_count 1",
      ]
    )
    let open = telemetry.metricsText(accept: "application/openmetrics-text; version=1.0.0")
    #expect(open.text.hasSuffix("# EOF\n"))
    #expect(open.text.contains("# TYPE shop_orders counter\n"))
    await telemetry.shutDown()
  }

  @Test func endlessLabelsCountTogether() async throws {
    let telemetry = try Telemetry.capturing(CapturingExporter()) { $0.cardinalityLimit = 3 }
    let counter = telemetry.metrics.counter("requests")
    for number in 0..<1000 { counter.add(1, ["user": .int(number)]) }
    let lines = telemetry.lines("requests_total")
    #expect(lines.count == 4)
    #expect(lines.contains("requests_total{otel_metric_overflow=\"true\"} 997"))
    // There is an end to instruments too, which count but are not shown.
    for number in 0..<1000 { telemetry.metrics.counter("made.up.\(number)").add() }
    #expect(telemetry.lines("made_up").count == 2)
    await telemetry.shutDown()
  }

  @Test func histogramsHaveExemplars() async throws {
    let telemetry = try Telemetry.capturing(CapturingExporter())
    let histogram = telemetry.metrics.histogram("size", bounds: [1, 10])
    let trace = await telemetry.tracer.withSpan("step") { span in
      histogram.record(5)
      return span.context
    }
    let lines = telemetry.lines("size_bucket{le=\"10\"}", accept: "application/openmetrics-text")
    #expect(lines.first?.contains("# {trace_id=\"\(trace.traceID)\",span_id=\"\(trace.spanID)\"} 5 ") == true)
    await telemetry.shutDown()
  }

  @Test func bucketsMatchTheProposals() {
    #expect(HistogramBounds.latency.recorded.count == 41)
    #expect(HistogramBounds.latency.recorded[1] == 10_000)
    #expect(HistogramBounds.latency.bucket(of: 0) == 0)
    #expect(HistogramBounds.latency.bucket(of: 1) == 1)
    #expect(HistogramBounds.latency.bucket(of: 10_000) == 1)
    #expect(HistogramBounds.latency.bucket(of: 10_001) == 2)
    #expect(HistogramBounds.latency.bucket(of: Int.max) == 41)
    #expect(HistogramBounds.size.shown.count == 14)
  }

  @Test func labelsAreEscaped() throws {
    let telemetry = try Telemetry(TelemetryOptions(serviceName: "a"))
    let attributes: [String: AttributeValue] = [
      "le": "1", "__name__": "evil", "": "empty", "a\"b{}\n\u{0}": "\"\\\n}", "ü": "1", "9": "1",
    ]
    telemetry.metrics.histogram("h", bounds: [1]).record(0.5, attributes)
    telemetry.metrics.counter("__c").add(1, attributes)
    for accept in ["", "application/openmetrics-text"] {
      for line in telemetry.lines("h_bucket", accept: accept) + telemetry.lines("__c", accept: accept) {
        let names = line.matches(of: /[{,]([a-zA-Z0-9_]+)="/).map { String($0.1) }
        #expect(Set(names).count == names.count, "\(line)")
        #expect(!names.contains { $0.hasPrefix("__") }, "\(line)")
        #expect(names.contains("key_le"))
      }
    }
  }
}
