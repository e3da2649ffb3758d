import EchoService
import EchoTestSupport
import Switchboard
import SwitchboardCall
import Testing

@testable import SwitchboardTelemetry

extension ChannelOptions {
  fileprivate static func observed(by telemetry: Telemetry) -> ChannelOptions {
    var options = ChannelOptions()
    options.observer = telemetry.observer()
    return options
  }
}

/// What is misspelled, or asks for what cannot be, is refused when the telemetry is made, or logged.
@Suite(.timeLimit(.minutes(5))) struct TelemetryMistakeTests {
  private final class Messages: LogHandler {
    private let state = Locked<[String]>([])
    var all: [String] { state.withLock { $0 } }

    func log(_ level: LogLevel, _ message: String, _ metadata: [String: String]) {
      guard level >= .warning else { return }
      state.withLock { $0.append(([message] + metadata.values.sorted()).joined(separator: " ")) }
    }
  }

  private func options(
    _ messages: Messages,
    _ change: (inout TelemetryOptions) -> Void
  ) -> TelemetryOptions {
    var options = TelemetryOptions(serviceName: "test")
    options.logger = Logger(messages)
    change(&options)
    return options
  }

  /// The warnings of telemetry with such options.
  private func warnings(_ change: (inout TelemetryOptions) -> Void) async throws -> [String] {
    let messages = Messages()
    let telemetry = try Telemetry(options(messages, change))
    try makeServer(telemetry.observer())
    await telemetry.shutDown()
    return messages.all
  }

  private func makeServer(_ observer: (any CallObserver)?) throws {
    var options = ServerOptions()
    options.observer = observer
    _ = try Server(providers: [TracedEcho()], options: options)
  }

  // MARK: Metrics

  @Test func namesOfMetricsThatAreNot() async throws {
    let found = try await warnings {
      $0.metrics.enabled = ["grpc.server.call.startd", "grpc.lbb.*", "grpc.server.*", "shop.orders"]
      $0.metrics.disabled = ["grpc_client_call_retry_delay", "*"]
      $0.metrics.optionalLabels = ["grpc.lb.localty", "grpc.lb.locality"]
    }
    #expect(
      found == [
        "TelemetryOptions: metrics.enabled names no metric: grpc.lbb.*",
        "TelemetryOptions: metrics.enabled names no metric: grpc.server.call.startd (did you mean grpc.server.call.started?)",
        "TelemetryOptions: metrics.disabled names no metric: grpc_client_call_retry_delay (did you mean "
          + "grpc.client.call.retry_delay?)",
        "TelemetryOptions: metrics.optionalLabels names no optional label: grpc.lb.localty (did you mean grpc.lb.locality?)",
      ]
    )
  }

  /// Nobody may be told that a metric is none which is shown.
  @Test func everyMetricOfACallIsKnown() async throws {
    let messages = Messages()
    let telemetry = try Telemetry(options(messages) { _ in })
    try await withEcho(TracedEcho(), server: telemetry.observer(), client: telemetry.observer()) {
      client,
      _ in
      _ = try await client.get(.with { $0.text = "x" })
    }
    let names = telemetry.metrics.snapshot().families.map(\.descriptor.name)
    #expect(names.contains("grpc.server.call.started"))
    #expect(names.allSatisfy(MetricSelection.metricNames.contains), "\(names)")
    await telemetry.shutDown()
  }

  private struct Endless: EchoingProvider {
    let started: OneShot<Void>

    func get(request: Echo_EchoRequest, context: ServerCallContext) async throws -> Echo_EchoResponse {
      started.settle(.success(()))
      try await Task.sleep(for: .seconds(3600))
      return Echo_EchoResponse()
    }
  }

  @Test func telemetryThatEndsBeforeItsCalls() async throws {
    let (messages, started) = (Messages(), OneShot<Void>())
    let telemetry = try Telemetry(options(messages) { $0.exporters = [.spans { _ in }] })
    try await withEcho(Endless(started: started), server: telemetry.observer(), client: nil) { client, _ in
      let call = Task { try await client.get(.with { $0.text = "x" }) }
      try await started.value()
      await telemetry.shutDown()
      call.cancel()
      _ = try? await call.value
    }
    #expect(messages.all.count == 1)
    #expect(messages.all.first?.hasPrefix("telemetry was shut down while calls were in progress") == true)
    #expect(messages.all.first?.hasSuffix(" 1") == true)
  }

  @Test func anAmountThatACounterDoesNotAdd() async throws {
    let messages = Messages()
    let telemetry = try Telemetry(options(messages) { _ in })
    let counter = telemetry.metrics.counter("shop.orders")
    for amount in [-5, .nan, 2, -1] { counter.add(amount) }
    telemetry.metrics.upDownCounter("shop.carts").add(-5)
    #expect(messages.all.count == 1)
    #expect(messages.all.first?.hasPrefix("an amount was not added") == true)
    #expect(messages.all.first?.hasSuffix("shop.orders") == true)
    await telemetry.shutDown()
  }

  @Test func attributesOfTooManyValues() async throws {
    let messages = Messages()
    let telemetry = try Telemetry(options(messages) { $0.cardinalityLimit = 3 })
    let (counter, gauge) = (telemetry.metrics.counter("shop.orders"), telemetry.metrics.gauge("shop.warmth"))
    let histogram = telemetry.metrics.histogram("shop.weights")
    for user in 0..<6 {
      let attributes: [String: AttributeValue] = ["shop.user": .string("\(user % 3)")]
      counter.add(1, attributes)
    }
    #expect(messages.all.isEmpty)
    for user in 0..<6 {
      let attributes: [String: AttributeValue] = ["shop.user": .string("\(user)")]
      counter.add(1, attributes)
      gauge.set(1, attributes)
      histogram.record(1, attributes)
    }
    gauge.add(1, ["shop.user": "6"])
    #expect(messages.all.allSatisfy { $0.hasPrefix("a metric has 3 series: ") })
    #expect(
      messages.all.compactMap { $0.split(separator: " ").last } == [
        "shop.orders", "shop.warmth", "shop.weights",
      ]
    )
    await telemetry.shutDown()
  }

  @Test func valuesThatAreNoNumbers() async throws {
    let messages = Messages()
    let telemetry = try Telemetry(options(messages) { _ in })
    let histogram = telemetry.metrics.histogram("shop.weights")
    for value in [Double.nan, 2, .infinity, -Double.infinity, -1] { histogram.record(value) }
    let gauge = telemetry.metrics.gauge("shop.warmth")
    for value in [20, Double.nan, .infinity] { gauge.set(value) }
    gauge.set(21)
    gauge.add(.nan)
    let endless = telemetry.metrics.gauge("shop.endless")
    endless.set(.infinity)
    endless.add(-.infinity)
    #expect(
      messages.all == [
        "a value was not recorded: it is no number, or infinite shop.weights",
        "a value was not set: it is no number shop.warmth",
        "a value was not set: it is no number shop.endless",
      ]
    )
    let page = telemetry.metricsText().text
    #expect(page.contains("shop_weights_count 2"))
    #expect(page.contains("shop_warmth 21"))
    #expect(page.contains("shop_endless +Inf"))
    await telemetry.shutDown()
  }

  /// A sum that shrinks would be taken for that of a process that was started again.
  @Test func valuesBelowZeroInAHistogram() async throws {
    let messages = Messages()
    let telemetry = try Telemetry(options(messages) { _ in })
    let lengths = telemetry.metrics.histogram("shop.lengths")
    for value in [5, -1, 7] as [Double] { lengths.record(value, ["side": "a"]) }
    lengths.record(3, ["side": "b"])
    #expect(messages.all.count == 1)
    #expect(
      messages.all.first?.hasPrefix("a value below zero was recorded, and no bound of the histogram is")
        == true
    )
    // With such bounds, they are meant.
    let warmth = telemetry.metrics.histogram("shop.winter", bounds: [-10, 0, 10])
    for value in [-11, -1, 11] as [Double] { warmth.record(value) }
    #expect(messages.all.count == 1)
    let page = telemetry.metricsText().text
    #expect(page.contains(#"shop_lengths_count{side="a"} 3"#))
    #expect(!page.contains(#"shop_lengths_sum{side="a"}"#))
    #expect(page.contains(#"shop_lengths_sum{side="b"} 3"#))
    #expect(page.contains("shop_winter_count 3") && !page.contains("shop_winter_sum"))
    await telemetry.shutDown()
  }

  @Test func whatHasNoName() async throws {
    let messages = Messages()
    let telemetry = try Telemetry(options(messages) { $0.resource.serviceName = "" })
    #expect(
      messages.all == ["TelemetryOptions: serviceName is empty: nobody can tell whose telemetry it is"]
    )
    telemetry.metrics.counter("").add()
    telemetry.metrics.histogram("").record(1)
    telemetry.metrics.observe("") { 1 }
    #expect(messages.all.dropFirst() == ["a metric is not recorded: it has no name "])
    #expect(telemetry.metrics.snapshot().families.allSatisfy { !$0.descriptor.name.isEmpty })
    await telemetry.shutDown()
  }

  // MARK: Traces and exporters

  @Test func exportersOfTheSameDestination() async throws {
    let collector = OTLPOptions(endpoint: "http://127.0.0.1:1")
    var tenant = collector
    tenant.headers = [("x-tenant", "b")]
    let twice = try await warnings {
      $0.exporters = [.otlp(collector, [.traces, .metrics]), .otlp(collector, [.metrics, .logs])]
      $0.metricInterval = .seconds(3600)
    }
    #expect(
      twice.filter { $0.contains("exporters has two") } == [
        "TelemetryOptions: exporters has two that send metrics to http://127.0.0.1:1, where everything is there twice: "
          + "leave one out"
      ]
    )
    let console = try await warnings { $0.exporters = [.console([.traces]), .console([.traces])] }
    #expect(console.count { $0.contains("that write traces to standard error") } == 1)
    let right = try await warnings {
      $0.exporters = [.otlp(collector, [.traces]), .otlp(collector, [.metrics]), .otlp(tenant, [.traces])]
    }
    #expect(!right.contains { $0.contains("exporters has two") })
  }

  @Test(arguments: [50, -1, .nan, .infinity]) func aShareThatIsNone(_ share: Double) {
    for sampler in [Sampler.ratio(share), .parentBased(.ratio(share))] {
      let error = #expect(throws: GRPCStatus.self) {
        try Telemetry(options(Messages()) { $0.sampler = sampler })
      }
      #expect(error?.code == .invalidArgument)
      #expect(error?.message?.contains("it must be from 0 to 1") == true)
    }
  }

  @Test func anExporterWithoutSignals() async throws {
    #expect(
      try await warnings { $0.exporters = [.console([])] } == [
        "TelemetryOptions: an exporter has no signals, and exports nothing"
      ]
    )
    #expect(try await warnings { $0.exporters = [.spans { _ in }] } == [])
  }

  @Test(arguments: ["http://a:4318/v1/traces", "http://a/otlp/v1/metrics/"])
  func aPathThatWouldBeDoubled(_ url: String) throws {
    let error = #expect(throws: GRPCStatus.self) {
      try OTLPEndpoint(OTLPOptions(endpoint: url, transport: .http))
    }
    #expect(error?.message?.contains("ends with the path of a signal, which is appended to it") == true)
    var whole = OTLPOptions(endpoint: url, transport: .http)
    whole.isWholeURL = true
    _ = try OTLPEndpoint(whole)
  }

  // MARK: What is passed on

  @Test func whatIsNotPassedOn() async throws {
    let messages = Messages()
    let telemetry = try Telemetry(
      options(messages) {
        $0.tracesCalls = false
      }
    )
    _ = telemetry.observer(passingOn: [.metadata("grpc-timeout", "x y", "", "Tenant"), .deadline])
    let found = messages.all
    #expect(found.count == 4)
    #expect(
      found[0] == "observer(passingOn:): metadata grpc-timeout is not passed on: the protocol itself sets it"
    )
    #expect(found[1] == "observer(passingOn:): metadata \"x y\" is not a name that HTTP allows")
    #expect(found[2] == "observer(passingOn:): metadata \"\" is not a name that HTTP allows")
    #expect(found[3].contains("set TelemetryOptions.tracesCalls or givesContext"))
    _ = telemetry.observer()
    #expect(messages.all.count == 4)
    await telemetry.shutDown()
  }

  @Test func aServerThatPassesOn() async throws {
    let messages = Messages()
    let telemetry = try Telemetry(options(messages) { _ in })
    let loop = try LoopGroup().nextLoop()
    func makeServer(_ observer: any CallObserver) {
      _ = (observer as? CallTelemetry)?.serverTracer(on: loop, peer: "test")
    }
    makeServer(telemetry.observer())
    #expect(messages.all == [])
    let observer = telemetry.observer(passingOn: .deadline)
    for _ in 0..<2 { makeServer(observer) }
    #expect(messages.all.count == 1)
    #expect(messages.all.first?.contains("is chosen by the observer of a channel") == true)
    // One observer for both.
    let shared = telemetry.observer(passingOn: .deadline)
    _ = (shared as? CallTelemetry)?.channelTracer(target: "x", on: loop)
    makeServer(shared)
    #expect(messages.all.count == 1)
    await telemetry.shutDown()
  }

  // MARK: The end

  @Test func telemetryThatIsReleased() async throws {
    let messages = Messages()
    do { _ = try Telemetry(options(messages) { $0.exporters = [.spans { _ in }] }) }
    #expect(messages.all.count == 1)
    #expect(messages.all.first?.contains("released without shutDown()") == true)
    // Without exporters, nothing is lost.
    do { _ = try Telemetry(options(messages) { _ in }) }
    let kept = try Telemetry(options(messages) { $0.exporters = [.spans { _ in }] })
    try makeServer(kept.observer())
    await kept.shutDown()
    #expect(messages.all.count == 1)
  }

  // MARK: What nobody uses

  @Test func telemetryThatNobodyHas() async throws {
    func messages(
      _ use: (Telemetry) throws -> Void,
      _ change: (inout TelemetryOptions) -> Void = { $0.exporters = [.spans { _ in }] }
    ) async throws -> [String] {
      let messages = Messages()
      let telemetry = try Telemetry(options(messages, change))
      try use(telemetry)
      for _ in 0..<2 { await telemetry.shutDown() }
      return messages.all
    }
    let unused = try await messages { _ = $0.observer() }
    #expect(unused.count == 1)
    #expect(unused.first?.contains("no server or channel has its observer()") == true)
    #expect(unused.first?.contains("or set countsCalls and tracesCalls to false") == true)
    #expect(try await messages { try makeServer($0.observer()) } == [])
    #expect(try await messages { _ = try Channel(inProcess: [], channelOptions: .observed(by: $0)) } == [])
    #expect(try await messages { _ = try Channel(target: "127.0.0.1:1", options: .observed(by: $0)) } == [])
    // Nothing of calls is exported.
    #expect(try await messages({ _ in }, { _ in }) == [])
    let countsNothing: (inout TelemetryOptions) -> Void = {
      $0.exporters = [.console([.metrics])]
      $0.countsCalls = false
    }
    let own = try await messages({ $0.metrics.counter("shop.orders").add() }, countsNothing)
    #expect(own == [])
  }

  @Test func aPageOfTelemetryThatNobodyHas() async throws {
    func messages(
      _ use: (Telemetry) async throws -> Void,
      _ change: (inout TelemetryOptions) -> Void = { _ in }
    ) async throws -> [String] {
      let messages = Messages()
      let telemetry = try Telemetry(options(messages, change))
      try await use(telemetry)
      let whileItRuns = messages.all
      for _ in 0..<2 { await telemetry.shutDown() }
      #expect(whileItRuns == [] || whileItRuns == messages.all)
      return messages.all
    }
    let unused = try await messages { _ = $0.metricsPage() }
    #expect(unused.count == 1)
    #expect(
      unused.first?.hasPrefix(
        "telemetry has a page of metrics or a console, and no server or channel has its observer()"
      )
        == true
    )
    #expect(unused.first?.hasSuffix("or set countsCalls to false") == true)
    #expect(try await messages { try $0.serveMetrics(port: 0) } == unused)
    let read = try await messages { telemetry in
      _ = telemetry.metricsPage()
      for _ in 0..<3 { telemetry.parts.use.pageWasRead() }
    }
    #expect(read == unused)
    #expect(try await messages({ _ = $0.metricsPage() }, { $0.countsCalls = false }) == [])
    let used = try await messages {
      _ = $0.metricsPage()
      try makeServer($0.observer())
    }
    #expect(used == [])
  }

  /// The program may run for weeks before it ends.
  @Test func telemetryThatNobodyHasIsFoundWhileItRuns() async throws {
    let messages = Messages()
    let telemetry = try Telemetry(
      options(messages) {
        $0.exporters = [.otlp(OTLPOptions(endpoint: "http://127.0.0.1:1"), [.metrics])]
        $0.metricInterval = .milliseconds(100)
      }
    )
    while !Task.isCancelled, !messages.all.contains(where: { $0.contains("has its observer()") }) {
      await Task.yield()
    }
    await telemetry.shutDown(within: .zero)
    #expect(messages.all.count { $0.contains("has its observer()") } == 1)
  }

  @Test func logsThatNobodySends() async throws {
    func messages(
      _ exporters: [TelemetryExporter],
      _ use: (Telemetry) -> (any CallObserver)?
    ) async throws -> [String] {
      let messages = Messages()
      let telemetry = try Telemetry(options(messages) { $0.exporters = exporters })
      try makeServer(use(telemetry))
      let atStart = messages.all
      await telemetry.shutDown(within: .zero)
      #expect(messages.all.filter { $0.contains("no TelemetryLog sends it any") } == atStart)
      return atStart
    }
    let alone: [TelemetryExporter] = [.console([.logs])]
    let found = try await messages(alone) { $0.observer() }
    #expect(found.count == 1)
    #expect(found.first?.contains("no TelemetryLog sends it any: make one") == true)
    #expect(try await messages([.console([.traces, .logs])]) { $0.observer() }.count == 1)
    let log = try await messages(alone) { telemetry in
      _ = TelemetryLog(telemetry, descriptor: nil)
      return telemetry.observer()
    }
    #expect(log == [])
    // All signals are the default, and some programs have no logs.
    #expect(try await messages([.console()]) { $0.observer() } == [])
    #expect(try await messages([.console([.traces])]) { $0.observer() } == [])
  }

  /// The variables of OpenTelemetry have a default for logs, which nobody asked for.
  @Test func logsOfTheEnvironment() {
    #expect(TelemetryOptions(environment: [:]).exportsLogsByDefault)
    #expect(!TelemetryOptions(environment: ["OTEL_LOGS_EXPORTER": "otlp"]).exportsLogsByDefault)
  }

  @Test func anObserverAfterTheEnd() async throws {
    let messages = Messages()
    let telemetry = try Telemetry(options(messages) { _ in })
    await telemetry.shutDown()
    _ = telemetry.observer()
    #expect(messages.all.count == 1)
    #expect(messages.all.first?.contains("telemetry that was shut down") == true)
  }

  // MARK: The environment

  @Test func namesOfVariablesThatAreNot() {
    func warnings(_ environment: [String: String]) -> [String] {
      let messages = Messages()
      _ = TelemetryOptions(environment: environment, logger: Logger(messages))
      return messages.all
    }
    #expect(
      warnings([
        "OTEL_EXPORTER_OTLP_ENDPIONT": "http://x:1", "OTEL_TRACE_EXPORTER": "none",
        "otel_logs_exporter": "none", "OTEL_EXPORTER_OTLP_INSECURE": "true",
        "OTEL_EXPORTER_PROMETHEUS_PORT": "9464", "OTEL_PYTHON_LOG_CORRELATION": "true", "OTHER": "x",
      ]) == [
        "OTEL_EXPORTER_OTLP_ENDPIONT has no effect (did you mean OTEL_EXPORTER_OTLP_ENDPOINT?)",
        "OTEL_EXPORTER_OTLP_INSECURE has no effect: the scheme of the endpoint decides, http or https",
        "OTEL_EXPORTER_PROMETHEUS_PORT has no effect: the program serves its metrics, by serveMetrics or metricsPage",
        "OTEL_TRACE_EXPORTER has no effect (did you mean OTEL_TRACES_EXPORTER?)",
        "otel_logs_exporter has no effect (did you mean OTEL_LOGS_EXPORTER?)",
      ]
    )
    let share = warnings(["OTEL_TRACES_SAMPLER_ARG": "0.1"])
    #expect(share.count == 1)
    #expect(share.first?.contains("has no effect without OTEL_TRACES_SAMPLER") == true)
    #expect(warnings(["OTEL_TRACES_SAMPLER_ARG": "0.1", "OTEL_TRACES_SAMPLER": "traceidratio"]) == [])
    // What OpenTelemetry defines, and other implementations read.
    let others = [
      "OTEL_LOG_LEVEL", "OTEL_SPAN_EVENT_COUNT_LIMIT", "OTEL_ATTRIBUTE_COUNT_LIMIT",
      "OTEL_METRICS_EXEMPLAR_FILTER",
    ]
    for name in others { #expect(warnings([name: "1"]) == []) }
  }
}
