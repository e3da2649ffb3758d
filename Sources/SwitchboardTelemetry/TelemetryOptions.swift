public import SwitchboardCall

/// Options that determine what is counted and traced, and where it is exported.
///
/// ```swift
/// var options = TelemetryOptions(serviceName: "checkout")
/// options.exporters = [.otlp(OTLPOptions(endpoint: "http://localhost:4317"))]
/// let telemetry = try Telemetry(options)
/// ```
public struct TelemetryOptions: Sendable {
  /// The attributes of the process, which every export carries.
  public var resource: Resource
  /// Whether calls and connections are counted, and the metrics of balancing recorded.
  public var countsCalls = true
  /// Whether calls are traced.
  public var tracesCalls = true
  /// Whether handlers get a context even if calls are not traced, so that their clients can pass on deadlines and the
  /// like.
  public var givesContext = false
  /// Returns the span of the task, if another library keeps it. It takes precedence over the task's own context.
  public var spanOfTask: (@Sendable () -> SpanContext?)?
  /// Which traces are recorded.
  public var sampler = Sampler.parentBased(.always)
  /// The headers in which traces are passed on. All known headers are read.
  public var propagators: Set<Propagator> = [.traceContext]
  /// Whether recorded spans get an event for each message.
  public var recordsMessages = true
  /// The exporters. Without any, metrics can still be read by `metricsText`.
  public var exporters: [TelemetryExporter] = []
  /// The metrics and the optional labels that are recorded.
  public var metrics = MetricSelection()
  /// The maximum number of series of a metric. Further methods count as `other`, and further attributes under
  /// `otel.metric.overflow`.
  public var cardinalityLimit = 2000
  /// The queue of spans that wait to be exported, and of log records unless `logBatch` is set.
  public var batch = BatchOptions()
  /// The queue of log records; `nil`: the same as `batch`. `init(environment:)` sets it.
  public var logBatch: BatchOptions?
  /// The interval at which metrics are exported, at least 100 ms.
  public var metricInterval = Duration.seconds(60)
  /// Logs that exports fail, once each time that failures begin.
  public var logger = Logger.quiet

  /// The defaults of OpenTelemetry, without an exporter.
  public init(serviceName: String = "unknown_service", attributes: [String: AttributeValue] = [:]) {
    resource = Resource(serviceName: serviceName, attributes: attributes)
  }

  static let leastMetricInterval = Duration.milliseconds(100)

  /// Throws `INVALID_ARGUMENT` if an option cannot be followed.
  func check() throws(GRPCStatus) {
    try checkRules()
    try batch.checkRules()
    try logBatch?.checkRules()
    for case .otlp(let options, _) in exporters { try options.checkRules() }
  }
}

extension TelemetryOptions: RuledOptions {
  package static let rules: [OptionRule<TelemetryOptions>] = [
    OptionRule(\.cardinalityLimit, "cardinalityLimit", .atLeast(1), because: "a metric has a series"),
    OptionRule(
      \.metricInterval,
      "metricInterval",
      .atLeast(leastMetricInterval),
      because: "exports in quick succession take a processor for themselves"
    ),
  ]
}

/// Headers that carry the identity of a trace.
public enum Propagator: Sendable, Hashable {
  /// W3C's `traceparent` and `tracestate`.
  case traceContext
  /// `grpc-trace-bin`, for peers that know no other header.
  case grpcTraceBin
}

/// Limits of a queue of spans or log records. Items beyond them are dropped and counted.
public struct BatchOptions: Sendable, Hashable {
  /// The maximum number of items.
  public var queueSize = 2048
  /// The approximate maximum number of bytes that they take in memory.
  public var queueBytes = 16 * 1024 * 1024
  /// The maximum number of items in one export; no more than `queueSize`, whatever is set.
  public var batchSize = 512
  /// The longest time for which an item waits for others; less than 10 ms means 10 ms.
  public var delay = Duration.seconds(5)

  /// The defaults of OpenTelemetry.
  public init() {}
}

extension BatchOptions: RuledOptions {
  package static let rules: [OptionRule<BatchOptions>] = [
    OptionRule(\.queueSize, "queueSize", .atLeast(1), because: "a queue that holds nothing exports nothing"),
    OptionRule(
      \.queueBytes,
      "queueBytes",
      .atLeast(1),
      because: "a queue that holds nothing exports nothing"
    ),
    OptionRule(\.batchSize, "batchSize", .atLeast(1), because: "an export without items exports nothing"),
    OptionRule(\.delay, "delay", .atLeast(.zero)),
  ]
}

/// A destination of telemetry.
public enum TelemetryExporter: Sendable {
  /// A collector, reached by OTLP.
  case otlp(OTLPOptions, Set<TelemetrySignal> = Set(TelemetrySignal.allCases))
  /// Lines on standard error, for people. Leave out logs if a `TelemetryLog` writes them there.
  case console(Set<TelemetrySignal> = Set(TelemetrySignal.allCases))
  /// A closure of the program, which gets spans in batches on the thread of exports.
  case spans(@Sendable ([FinishedSpan]) -> Void)
}

/// A kind of telemetry.
public enum TelemetrySignal: String, Sendable, CaseIterable {
  /// Spans.
  case traces
  /// Metrics.
  case metrics
  /// Log records.
  case logs
}

/// Options for exporting to a collector by OTLP.
public struct OTLPOptions: Sendable {
  /// The protocol that carries the messages.
  public enum Transport: String, Sendable {
    /// gRPC.
    case grpc
    /// Protobuf in POST requests.
    case http = "http/protobuf"
    /// JSON in POST requests.
    case httpJSON = "http/json"
  }

  /// The collector's URL: `http://host:port`, or `https` for TLS. Over HTTP it may have a path, to which paths such as
  /// `/v1/traces` are appended.
  public var endpoint: String
  /// The protocol that carries the messages.
  public var transport: Transport
  /// Headers of every request, for example with a token. Those that the exporter sets itself, such as `content-type`
  /// and `user-agent`, are an error of `Telemetry.init`, as are invalid ones.
  public var headers: [(String, String)] = []
  /// The timeout of one request.
  public var timeout = Duration.seconds(10)
  /// How long the export of a batch may take, with the repetitions of its request and the pauses between them. Then the
  /// batch is dropped, even if a request is in progress. With zero or less, there is one request and no repetition.
  public var retryLimit = Duration.seconds(60)
  /// The compression of requests: over HTTP none or gzip.
  public var compression = MessageCompression.none
  /// Whether the endpoint over HTTP is the URL of a single signal, to which no path is appended.
  var isWholeURL = false
  /// The settings of TLS for `https`, and an error of `Telemetry.init` with `http`. `nil`: the defaults, with the
  /// system's certificates.
  public var tls: ClientTLS?

  /// Options for the collector at `endpoint`, by default the one on this machine.
  public init(endpoint: String? = nil, transport: Transport = .grpc) {
    self.transport = transport
    self.endpoint = endpoint ?? (transport == .grpc ? "http://localhost:4317" : "http://localhost:4318")
  }
}

extension OTLPOptions: RuledOptions {
  package static let rules: [OptionRule<OTLPOptions>] = [
    OptionRule(\.timeout, "timeout", .above(.zero), because: "an answer takes time"),
    OptionRule(\.retryLimit, "retryLimit", .any),
  ]
}
