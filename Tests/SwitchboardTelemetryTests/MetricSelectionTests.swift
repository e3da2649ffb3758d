import EchoService
import Switchboard
import SwitchboardBalancing
import SwitchboardCall
import Testing

@testable import SwitchboardTelemetry

/// Metrics that components declare, and which of all metrics are wanted (gRFC A79).
@Suite(.timeLimit(.minutes(5))) struct MetricSelectionTests {
  private final class Warnings: LogHandler {
    let all = Locked<[String]>([])

    func log(_ level: LogLevel, _ message: String, _ metadata: [String: String]) {
      all.withLock { $0.append("\(message): \(metadata["name"] ?? "")") }
    }
  }

  private func metrics(
    limit: Int = 100,
    logger: Logger = .quiet,
    _ change: (inout MetricSelection) -> Void = { _ in }
  ) -> TelemetryMetrics {
    var selection = MetricSelection()
    change(&selection)
    return TelemetryMetrics(TelemetryClock(), limit: limit, selection, logger)
  }

  private func text(_ metrics: TelemetryMetrics) -> [String] {
    PrometheusText.text(metrics.snapshot(), Resource(serviceName: "test"), .plain).text.split(separator: "\n")
      .map(String.init).filter { !$0.hasPrefix("#") && !$0.hasPrefix("target_info") }
  }

  private func instrument(
    _ name: String = "made.up",
    _ kind: Instrument.Kind = .counter,
    isOn: Bool = true
  ) -> Instrument {
    Instrument(
      name,
      kind,
      unit: "{thing}",
      "things",
      optionalLabels: ["grpc.lb.locality", "grpc.lb.backend_service"],
      isOnByDefault: isOn
    )
  }

  @Test func labelsFollowTheDeclaration() {
    let metrics = metrics { $0.optionalLabels = ["grpc.lb.locality", "unknown"] }
    let scope = metrics.scope(["grpc.target": "dns:///a", "unknown": "x", "grpc.lb.backend_service": "y"])
    scope.series(of: instrument())?.record(2)
    scope.labelled("grpc.lb.locality", "eu").series(of: instrument())?.record(3)
    metrics.scope().series(of: instrument())?.record([1, 1])
    #expect(
      text(metrics) == [
        "made_up_total{grpc_lb_locality=\"\",grpc_target=\"\"} 2",
        "made_up_total{grpc_lb_locality=\"\",grpc_target=\"dns:///a\"} 2",
        "made_up_total{grpc_lb_locality=\"eu\",grpc_target=\"dns:///a\"} 3",
      ]
    )
  }

  @Test func eachInstrumentAggregatesItsOwnWay() {
    let metrics = metrics()
    let scope = metrics.scope()
    for (name, kind) in [
      ("a", Instrument.Kind.counter), ("b", .upDownCounter), ("c", .gauge),
      ("d", .histogram(bounds: [1, 5])),
    ] { scope.series(of: instrument(name, kind))?.record([2, -1, 7]) }
    let label = "{grpc_target=\"\"}"
    // With a value below zero, a histogram has no sum.
    #expect(
      text(metrics) == [
        "a_total\(label) 9", "b\(label) 8", "c\(label) 7", "d_bucket{grpc_target=\"\",le=\"1\"} 1",
        "d_bucket{grpc_target=\"\",le=\"5\"} 2", "d_bucket{grpc_target=\"\",le=\"+Inf\"} 3",
        "d_count\(label) 3",
      ]
    )
  }

  @Test func namesOverrideDefaults() {
    let on = instrument("a.on")
    let off = instrument("a.off", isOn: false)
    #expect(metrics().scope().series(of: on) != nil)
    #expect(metrics().scope().series(of: off) == nil)
    #expect(metrics { $0.enabled = ["a.off"] }.scope().series(of: off) != nil)
    #expect(metrics { $0.enabled = ["a.*"] }.scope().series(of: off) != nil)
    #expect(metrics { $0.disabled = ["a.on"] }.scope().series(of: on) == nil)
    let only = metrics {
      $0.disabled = ["*"]
      $0.enabled = ["a.off"]
    }
    #expect(only.scope().series(of: off) != nil)
    #expect(only.scope().series(of: on) == nil)
    let allBut = metrics {
      $0.enabled = ["*", "a.off"]
      $0.disabled = ["a.off"]
    }
    #expect(allBut.scope().series(of: off) == nil)
    #expect(allBut.scope().series(of: on) != nil)
  }

  @Test func aNameBelongsToOneDeclaration() {
    let warnings = Warnings()
    let metrics = metrics(limit: 3, logger: Logger(warnings))
    let scope = metrics.scope()
    #expect(scope.series(of: instrument()) != nil)
    #expect(scope.series(of: instrument()) != nil)
    for _ in 0..<3 { #expect(scope.series(of: instrument("made.up", .gauge)) == nil) }
    // One of the program's, and those that are too many.
    metrics.counter("mine").add()
    #expect(scope.series(of: instrument("mine")) == nil)
    for number in 0..<100 { _ = scope.series(of: instrument("many.\(number)")) }
    let all = warnings.all.withLock { $0 }
    let problem = "a metric is not recorded"
    #expect(
      all == [
        "\(problem): another one has its name: made.up", "\(problem): another one has its name: mine",
        "\(problem): there are 3 others: many.1",
      ]
    )
    #expect(metrics.snapshot().families.count == 3)
  }

  /// What is missing is logged once.
  @Test func aNameBelongsToOneInstrument() {
    let warnings = Warnings()
    let metrics = metrics(limit: 4, logger: Logger(warnings))
    metrics.counter("a", "first").add(1)
    metrics.counter("a", "another description").add(2)
    for _ in 0..<3 {
      metrics.upDownCounter("a").add(10)
      metrics.gauge("a").set(10)
      metrics.counter("a", unit: "By").add(10)
    }
    metrics.observe("b") { 1 }
    metrics.observe("b") { 2 }
    metrics.counter("c_d").add(3)
    metrics.counter("c.d").add(4)
    for name in ["e", "f", "g"] { metrics.gauge(name).set(5) }
    #expect(text(metrics) == ["a_total 3", "b 1", "c_d_total 3"])
    metrics.reportMissingOnPage(["c.d", "c.d"])
    #expect(
      warnings.all.withLock { $0 } == [
        "a metric is not recorded: another one has its name: a",
        "a metric is not recorded: another one has its name: b",
        "a metric is not recorded: there are 4 others: e",
        "a metric is not shown to Prometheus: the name of another one becomes the same there: c.d",
      ]
    )
  }

  @Test func boundsOfAHistogramDiffer() {
    let metrics = metrics()
    metrics.histogram("h", bounds: [10, 1, 1, .nan, .infinity]).record(5)
    let buckets = text(metrics).filter { $0.contains("bucket") }
    #expect(buckets == ["h_bucket{le=\"1\"} 0", "h_bucket{le=\"10\"} 1", "h_bucket{le=\"+Inf\"} 1"])
  }

  @Test func seriesOfComponentsAreBounded() {
    let metrics = metrics(limit: 5)
    for number in 0..<100 {
      let long = String(repeating: "x", count: 10_000)
      metrics.scope(["grpc.target": "\(number)\(long)"]).series(of: instrument())?.record(1)
    }
    let lines = text(metrics)
    #expect(lines.count == 6)
    #expect(lines.last == "made_up_total{otel_metric_overflow=\"true\"} 95")
    #expect(lines.allSatisfy { $0.utf8.count < 400 })
  }

  @Test func metricsOfCallsCanBeDisabled() async throws {
    let telemetry = try Telemetry.capturing(CapturingExporter()) {
      $0.metrics.disabled = ["grpc.client.*"]
      $0.metrics.enabled = ["grpc.client.call.duration"]
    }
    let observer = telemetry.observer()
    try await withEcho(TracedEcho(), server: observer, client: observer) { client, _ in
      _ = try await client.get(.with { $0.text = "x" })
    }
    #expect(telemetry.lines("grpc_client_call_duration_seconds_count").count == 1)
    #expect(telemetry.lines("grpc_client_attempt").isEmpty)
    #expect(telemetry.lines("grpc_server_call_started_total").count == 1)
    await telemetry.shutDown()
  }

  @Test func disabledCallMetricsKeepNoState() throws {
    let telemetry = try Telemetry.capturing(CapturingExporter()) { $0.countsCalls = false }
    let observer = try #require(telemetry.observer() as? CallTelemetry)
    #expect(observer.metrics(target: "dns:///a") == nil)
    let group = try LoopGroup()
    defer { group.shutDown() }
    let loop = group.nextLoop()
    let channel = ChannelTelemetry(observer.parts, .nothing, "dns:///a", on: loop)
    for name in ["A", "B"] {
      let method = MethodDescriptor(service: "a.B", method: name, type: .unary)
      #expect(channel.method(method).counter === LoopCounter.nothing)
      let server = ServerTelemetry(observer.parts, on: loop, peer: "")
      var stamp = CallStamp()
      let call = server.callStarted(method, HPACKHeaders(), number: nil, .none, &stamp)
      // The traces are recorded.
      let end = ObservedEnd(status: .ok, sent: MessageTotals(), received: MessageTotals())
      try #require(call).ended(end, stamp)
    }
    LoopCounter.nothing.wholeCallEnded(.ok, 1, nil)
    LoopCounter.nothing.wasRepeated(retries: 1, transparent: 1, hedges: 1, delay: 1)
    #expect(telemetry.metrics.snapshot().families.isEmpty)
  }
}
