import SwitchboardCall
import Testing

@testable import SwitchboardTelemetry

/// The variables that OpenTelemetry defines.
@Suite struct EnvironmentTests {
  private final class Warnings: LogHandler {
    private let all = Locked<[String]>([])

    func log(_ level: LogLevel, _ message: String, _ metadata: [String: String]) {
      all.withLock { $0.append(message) }
    }

    var messages: [String] { all.withLock { $0 } }
    /// The variables, whose names the messages begin with.
    var names: [String] { messages.map { String($0.prefix { $0 != " " }) } }
  }

  private func otlp(_ options: TelemetryOptions, _ signal: TelemetrySignal) -> OTLPOptions? {
    for case .otlp(let otlp, let signals) in options.exporters where signals.contains(signal) { return otlp }
    return nil
  }

  @Test func anEmptyEnvironmentMeansTheDefaults() {
    let options = TelemetryOptions(environment: [:])
    #expect(options.resource.serviceName == "unknown_service")
    #expect(options.sampler == .parentBased(.always))
    #expect(otlp(options, .traces)?.endpoint == "http://localhost:4318")
    #expect(otlp(options, .traces)?.transport == .http)
    #expect(options.exporters.count == 3)
  }

  @Test func mistakesAreLoggedByDefault() {
    for options in [TelemetryOptions(), TelemetryOptions(environment: [:])] {
      #expect(options.logger.logs(.warning) && !options.logger.logs(.info))
    }
  }

  @Test func variablesAreRead() {
    let options = TelemetryOptions(environment: [
      "OTEL_SERVICE_NAME": "checkout",
      "OTEL_RESOURCE_ATTRIBUTES": "service.name=ignored,team=a%20b, region = eu ",
      "OTEL_TRACES_SAMPLER": "parentbased_traceidratio", "OTEL_TRACES_SAMPLER_ARG": "0.25",
      "OTEL_PROPAGATORS": "tracecontext,baggage,grpc-trace-bin",
      "OTEL_BSP_MAX_QUEUE_SIZE": "10", "OTEL_BSP_MAX_EXPORT_BATCH_SIZE": "5",
      "OTEL_BSP_SCHEDULE_DELAY": "250", "OTEL_BSP_EXPORT_TIMEOUT": "9000",
      "OTEL_BLRP_MAX_QUEUE_SIZE": "20",
      "OTEL_METRIC_EXPORT_INTERVAL": "1000", "OTEL_METRICS_EXPORTER": "none", "OTEL_LOGS_EXPORTER": "console",
      "OTEL_EXPORTER_OTLP_PROTOCOL": "grpc", "OTEL_EXPORTER_OTLP_ENDPOINT": "http://collector:1",
      "OTEL_EXPORTER_OTLP_HEADERS": "x-token=se%2Ccret,other=1", "OTEL_EXPORTER_OTLP_TIMEOUT": "500",
      "OTEL_EXPORTER_OTLP_COMPRESSION": "GZIP",
    ])
    #expect(options.resource.attributes == ["service.name": "checkout", "team": "a b", "region": "eu"])
    #expect(options.sampler == .parentBased(.ratio(0.25)))
    #expect(options.propagators == [.traceContext, .grpcTraceBin])
    #expect((options.batch.queueSize, options.batch.batchSize) == (10, 5))
    #expect(options.batch.delay == .milliseconds(250))
    #expect((options.logBatch?.queueSize, options.logBatch?.batchSize) == (20, 20))
    #expect(options.logBatch?.delay == .seconds(1))
    #expect(options.metricInterval == .seconds(1))
    #expect(otlp(options, .metrics) == nil)
    #expect(otlp(options, .logs) == nil)
    let traces = otlp(options, .traces)
    #expect(traces?.endpoint == "http://collector:1")
    #expect(traces?.transport == .grpc)
    #expect(traces?.headers.map(\.1) == ["se,cret", "1"])
    #expect(traces?.timeout == .milliseconds(500))
    #expect(traces?.compression == .gzip)
    #expect(traces?.retryLimit == .seconds(9))
    #expect(traces?.tls == nil)
  }

  @Test func certificatesAreRead() {
    let options = TelemetryOptions(environment: [
      "OTEL_EXPORTER_OTLP_ENDPOINT": "https://collector", "OTEL_EXPORTER_OTLP_CERTIFICATE": "/roots.pem",
      "OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE": "/chain.pem",
      "OTEL_EXPORTER_OTLP_CLIENT_KEY": "/key.pem", "OTEL_EXPORTER_OTLP_LOGS_CLIENT_KEY": "/logs.pem",
      "OTEL_METRIC_EXPORT_TIMEOUT": "100",
    ])
    #expect(otlp(options, .traces)?.tls?.trustRoots == .file("/roots.pem"))
    let chain = PEMSource.file("/chain.pem")
    #expect(
      otlp(options, .traces)?.tls?.credentials
        == TLSCredentials(certificateChain: chain, privateKey: .file("/key.pem"))
    )
    #expect(
      otlp(options, .logs)?.tls?.credentials
        == TLSCredentials(certificateChain: chain, privateKey: .file("/logs.pem"))
    )
    #expect(otlp(options, .metrics)?.retryLimit == .milliseconds(100))
    #expect(otlp(options, .logs)?.retryLimit == OTLPOptions().retryLimit)
  }

  @Test func aClientCertificateNeedsItsKey() {
    let warnings = Warnings()
    let environment = [
      "OTEL_EXPORTER_OTLP_ENDPOINT": "https://collector",
      "OTEL_EXPORTER_OTLP_TRACES_CLIENT_CERTIFICATE": "/chain.pem",
    ]
    let options = TelemetryOptions(environment: environment, logger: Logger(warnings))
    #expect(otlp(options, .traces)?.tls == nil)
    #expect(warnings.names == ["OTEL_EXPORTER_OTLP_TRACES_CLIENT_CERTIFICATE"])
  }

  /// `Telemetry.init` would refuse them, as it refuses such options of a program.
  @Test func certificatesAreOnlyForHTTPS() throws {
    let warnings = Warnings()
    let options = TelemetryOptions(
      environment: [
        "OTEL_EXPORTER_OTLP_CERTIFICATE": "/roots.pem", "OTEL_EXPORTER_OTLP_CLIENT_KEY": "/key.pem",
      ],
      logger: Logger(warnings)
    )
    let reason = "is ignored: the collector's URL begins with http, which means plaintext"
    #expect(
      warnings.messages == [
        "OTEL_EXPORTER_OTLP_CERTIFICATE \(reason)", "OTEL_EXPORTER_OTLP_CLIENT_KEY \(reason)",
      ]
    )
    _ = try Telemetry(options)
  }

  @Test func headersThatCannotBeSentAreIgnored() throws {
    let warnings = Warnings()
    let options = TelemetryOptions(
      environment: [
        "OTEL_EXPORTER_OTLP_HEADERS":
          "Authorization=Bearer%20x,bad name=x,x-ok=a%0Ab: c,Content-Type=text/plain"
      ],
      logger: Logger(warnings)
    )
    #expect(otlp(options, .logs)?.headers.map(\.0) == ["Authorization"])
    let variable = "OTEL_EXPORTER_OTLP_HEADERS has a header that"
    #expect(
      warnings.messages == [
        "\(variable) is not a name that HTTP allows, which is ignored",
        "\(variable) has a value that HTTP does not allow (it has a line break, or another control character), which is ignored",
        "\(variable) is one that the exporter sets itself, which is ignored",
      ]
    )
    _ = try Telemetry(options)
  }

  @Test func anEndpointThatCannotWorkIsExplained() {
    let warnings = Warnings()
    let options = TelemetryOptions(
      environment: [
        "OTEL_EXPORTER_OTLP_ENDPOINT": "http://me:secret@all:1",
        "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "http://traces:4317/v1/traces",
        "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL": "grpc",
        "OTEL_EXPORTER_OTLP_LOGS_ENDPOINT": "http://logs:1/in?key=x",
      ],
      logger: Logger(warnings)
    )
    #expect(otlp(options, .traces)?.endpoint == "http://localhost:4317")
    #expect(otlp(options, .metrics)?.endpoint == "http://localhost:4318")
    // The URL of one signal is used as it is.
    #expect(otlp(options, .logs)?.endpoint == "http://logs:1/in?key=x")
    let example = "a valid one is http://localhost:4317, or over HTTP http://localhost:4318"
    #expect(
      warnings.messages == [
        "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT is ignored: the collector's URL has a path, which does not go with gRPC; \(example)",
        "OTEL_EXPORTER_OTLP_ENDPOINT is ignored: the collector's URL has user information, which belongs in a header; \(example)",
      ]
    )
  }

  /// OpenTelemetry has invalid values ignored: then the default applies.
  @Test(arguments: [
    ("zipkin", TelemetrySignal.traces, "otlp, console or none"),
    ("console,zipkin", .logs, "otlp, console or none"),
    ("prometheus", .traces, "otlp, console or none"),
    ("statsd", .metrics, "otlp, console, prometheus or none"),
  ])
  func anUnknownExporterMeansTheDefault(_ value: String, _ signal: TelemetrySignal, _ known: String) {
    let warnings = Warnings()
    let variable = "OTEL_\(signal.rawValue.uppercased())_EXPORTER"
    let options = TelemetryOptions(environment: [variable: value], logger: Logger(warnings))
    #expect(otlp(options, signal) != nil)
    #expect(options.exporters.count == 3)
    #expect(
      warnings.messages == [
        "\(variable) has an invalid value and is ignored; expected \(known). The default is otlp"
      ]
    )
  }

  @Test func namesMayHaveCapitals() {
    let warnings = Warnings()
    let options = TelemetryOptions(
      environment: [
        "OTEL_TRACES_EXPORTER": "OTLP", "OTEL_METRICS_EXPORTER": "Prometheus", "OTEL_LOGS_EXPORTER": "None",
        "OTEL_EXPORTER_OTLP_PROTOCOL": "HTTP/JSON", "OTEL_PROPAGATORS": "TraceContext",
      ],
      logger: Logger(warnings)
    )
    #expect(options.exporters.count == 1)
    #expect(otlp(options, .traces)?.transport == .httpJSON)
    #expect(warnings.messages == [])
  }

  @Test(arguments: ["0", "99"]) func metricsAreNotExportedWithoutAPause(_ milliseconds: String) throws {
    let warnings = Warnings()
    let options = TelemetryOptions(
      environment: ["OTEL_METRIC_EXPORT_INTERVAL": milliseconds],
      logger: Logger(warnings)
    )
    #expect(options.metricInterval == .seconds(60))
    let expected = "a number of milliseconds from 100 to 86400000"
    #expect(
      warnings.messages == [
        "OTEL_METRIC_EXPORT_INTERVAL has an invalid value and is ignored; expected \(expected)"
      ]
    )
  }

  @Test func aSignalHasItsOwnVariables() {
    let options = TelemetryOptions(environment: [
      "OTEL_EXPORTER_OTLP_ENDPOINT": "http://all:1/base",
      "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "http://traces:2/exactly/here",
      "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL": "http/json",
    ])
    #expect(otlp(options, .traces)?.endpoint == "http://traces:2/exactly/here")
    #expect(otlp(options, .traces)?.isWholeURL == true)
    #expect(otlp(options, .traces)?.transport == .httpJSON)
    #expect(otlp(options, .logs)?.endpoint == "http://all:1/base")
    #expect(otlp(options, .logs)?.isWholeURL == false)
  }

  /// OpenTelemetry has 0 mean that there is no limit.
  @Test func aTimeoutOfZeroIsNone() {
    let options = TelemetryOptions(environment: [
      "OTEL_BSP_EXPORT_TIMEOUT": "0", "OTEL_METRIC_EXPORT_TIMEOUT": "0", "OTEL_BLRP_EXPORT_TIMEOUT": "0",
      "OTEL_EXPORTER_OTLP_TIMEOUT": "0",
    ])
    for signal in TelemetrySignal.allCases {
      #expect(otlp(options, signal).map { $0.retryLimit >= .seconds(86_400) } == true)
      #expect(otlp(options, signal).map { $0.timeout >= .seconds(86_400) } == true)
    }
  }

  @Test func invalidValuesAreReportedWithoutShowingThem() {
    let warnings = Warnings()
    let environment = [
      "OTEL_TRACES_SAMPLER": "sometimes", "OTEL_BSP_MAX_QUEUE_SIZE": "-1", "OTEL_BSP_SCHEDULE_DELAY": "soon",
      "OTEL_EXPORTER_OTLP_ENDPOINT": "not a url", "OTEL_RESOURCE_ATTRIBUTES": "nonsense",
      "OTEL_PROPAGATORS": "b3",
      "OTEL_LOGS_EXPORTER": "paper", "OTEL_EXPORTER_OTLP_COMPRESSION": "",
      "OTEL_EXPORTER_OTLP_PROTOCOL": "carrier",
    ]
    let options = TelemetryOptions(environment: environment, logger: Logger(warnings))
    #expect(options.sampler == .parentBased(.always))
    #expect(options.batch == BatchOptions())
    #expect(otlp(options, .traces)?.endpoint == "http://localhost:4318")
    #expect(
      warnings.names.sorted()
        == Set(environment.keys).subtracting(["OTEL_EXPORTER_OTLP_COMPRESSION"]).sorted()
    )
  }

  /// OpenTelemetry demands it. A number that was not set follows the other one.
  @Test(arguments: [
    ("10", "10", 10, false), ("10", "11", 10, true), ("10", "", 10, false), ("", "2049", 512, true),
    ("600", "601", 512, true), ("4000", "3000", 3000, false),
  ])
  func aBatchFitsIntoItsQueue(_ queue: String, _ batch: String, _ expected: Int, _ isReported: Bool) {
    for prefix in ["OTEL_BSP", "OTEL_BLRP"] {
      let warnings = Warnings()
      let (queueName, batchName) = ("\(prefix)_MAX_QUEUE_SIZE", "\(prefix)_MAX_EXPORT_BATCH_SIZE")
      let options = TelemetryOptions(
        environment: [queueName: queue, batchName: batch],
        logger: Logger(warnings)
      )
      let read = prefix == "OTEL_BSP" ? options.batch : options.logBatch
      #expect(read?.batchSize == expected)
      #expect(read?.queueSize == Int(queue) ?? 2048)
      #expect(warnings.names == (isReported ? [batchName] : []))
    }
  }

  @Test func anInvalidShareKeepsTheSampler() {
    for share in ["7", "-0.1", "nan", "abc", "1e999"] {
      let warnings = Warnings()
      let environment = ["OTEL_TRACES_SAMPLER": "always_off", "OTEL_TRACES_SAMPLER_ARG": share]
      // The sampler needs none.
      let off = TelemetryOptions(environment: environment, logger: Logger(warnings))
      #expect(off.sampler == .never)
      let ratio = TelemetryOptions(
        environment: ["OTEL_TRACES_SAMPLER": "traceidratio", "OTEL_TRACES_SAMPLER_ARG": share],
        logger: Logger(warnings)
      )
      #expect(ratio.sampler == .ratio(1))
      #expect(warnings.names == ["OTEL_TRACES_SAMPLER_ARG"])
    }
  }

  @Test func warningsNameTheExpectedValues() {
    let warnings = Warnings()
    let options = TelemetryOptions(
      environment: ["OTEL_SDK_DISABLED": "yes", "OTEL_BSP_MAX_EXPORT_BATCH_SIZE": "4000"],
      logger: Logger(warnings)
    )
    #expect(options.countsCalls)
    let isIgnored = "has an invalid value and is ignored; expected"
    #expect(
      warnings.messages == [
        "OTEL_SDK_DISABLED \(isIgnored) true or false",
        "OTEL_BSP_MAX_EXPORT_BATCH_SIZE \(isIgnored) a number from 1 to 2048, the size of the queue",
      ]
    )
  }

  @Test func escapesAreTwoDigits() {
    let options = TelemetryOptions(environment: ["OTEL_RESOURCE_ATTRIBUTES": "a=%+1,b=%4a%4A,c=%,d=%f"])
    #expect(options.resource.attributes["a"] == "%+1")
    #expect(options.resource.attributes["b"] == "JJ")
    #expect(options.resource.attributes["c"] == "%")
    #expect(options.resource.attributes["d"] == "%f")
  }

  @Test func everythingCanBeSwitchedOff() {
    let options = TelemetryOptions(environment: [
      "OTEL_SDK_DISABLED": "true", "OTEL_PROPAGATORS": "grpc-trace-bin",
    ])
    #expect(!options.countsCalls && options.exporters.isEmpty)
    // Traces of callers are passed on.
    #expect(options.tracesCalls && options.propagators == [.grpcTraceBin])
  }
}
