import EchoService
import Switchboard
import SwitchboardCall
import Testing

@testable import SwitchboardTelemetry

/// What is misspelt, or asks for what cannot be, is refused when the telemetry is made, or logged.
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
    await (try Telemetry(options(messages, change))).shutDown()
    return messages.all
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

  // MARK: Traces and exporters

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
      _ = (observer as? CallTelemetry)?.serverTracer(on: loop)
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
    await (try Telemetry(options(messages) { $0.exporters = [.spans { _ in }] })).shutDown()
    #expect(messages.all.count == 1)
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
