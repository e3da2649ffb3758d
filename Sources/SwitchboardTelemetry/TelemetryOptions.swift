public import SwitchboardCall

/// What is measured, what is recorded, and where it goes.
///
/// ```swift
/// var options = TelemetryOptions(serviceName: "checkout")
/// options.exporters = [.otlp(OTLPOptions(endpoint: "http://localhost:4317"))]
/// let telemetry = try Telemetry(options)
/// ```
public struct TelemetryOptions: Sendable {
  /// What sends the telemetry.
  public var resource: Resource
  /// Whether calls and connections are counted.
  public var countsCalls = true
  /// Whether calls are traced.
  public var tracesCalls = true
  /// Whether handlers find the context of their call although calls are not traced, for clients that pass it on.
  public var givesContext = false
  /// Asked for the span of a task before the task's own context is, for libraries that keep it elsewhere.
  public var spanOfTask: (@Sendable () -> SpanContext?)?
  /// Which traces are recorded.
  public var sampler = Sampler.parentBased(.always)
  /// In which headers the identity of a trace is sent. All of them are read.
  public var propagators: Set<Propagator> = [.traceContext]
  /// Whether recorded spans have an event for each message.
  public var recordsMessages = true
  /// Where spans, metrics and log records go. None: metrics can still be read with `metricsText`.
  public var exporters: [TelemetryExporter] = []
  /// Which metrics are recorded.
  public var metrics = MetricSelection()
  /// How many series a metric has at most: further methods count as `other`, further attributes under
  /// `otel.metric.overflow`.
  public var cardinalityLimit = 2000
  /// How spans and log records wait to be exported.
  public var batch = BatchOptions()
  /// How often metrics are exported.
  public var metricInterval = Duration.seconds(60)
  /// Where failures to export are reported, once each time that they begin.
  public var logger = Logger.quiet

  /// The defaults of OpenTelemetry, and no exporter.
  public init(serviceName: String = "unknown_service", attributes: [String: AttributeValue] = [:]) {
    resource = Resource(serviceName: serviceName, attributes: attributes)
  }
}

/// The headers that carry the identity of a trace.
public enum Propagator: Sendable, Hashable {
  /// W3C's `traceparent` and `tracestate`.
  case traceContext
  /// `grpc-trace-bin`, for peers that know nothing else.
  case grpcTraceBin
}

/// How many spans or log records wait to be exported, and for how long. What there is no room for is dropped and counted.
public struct BatchOptions: Sendable, Hashable {
  /// How many wait at most.
  public var queueSize = 2048
  /// How many bytes of memory they take at most, about.
  public var queueBytes = 16 * 1024 * 1024
  /// How many are exported together at most.
  public var batchSize = 512
  /// How long one waits for others.
  public var delay = Duration.seconds(5)

  /// The defaults of OpenTelemetry.
  public init() {}
}

/// A way out for telemetry.
public enum TelemetryExporter: Sendable {
  /// To a collector, by OpenTelemetry's protocol.
  case otlp(OTLPOptions, Set<TelemetrySignal> = Set(TelemetrySignal.allCases))
  /// To standard error, for people.
  case console(Set<TelemetrySignal> = Set(TelemetrySignal.allCases))
  /// Spans to the program itself, in batches, on the thread of exports.
  case spans(@Sendable ([FinishedSpan]) -> Void)
}

/// What can be exported.
public enum TelemetrySignal: String, Sendable, CaseIterable {
  /// Spans.
  case traces
  /// Numbers.
  case metrics
  /// Log records.
  case logs
}

/// How a collector is reached.
public struct OTLPOptions: Sendable {
  /// How messages are carried.
  public enum Transport: String, Sendable {
    /// gRPC.
    case grpc
    /// Protobuf in POST requests.
    case http = "http/protobuf"
    /// JSON in POST requests.
    case httpJSON = "http/json"
  }

  /// A URL: `http://host:port`, or `https` for TLS. Over HTTP, `/v1/traces` and the like follow it.
  public var endpoint: String
  /// How messages are carried.
  public var transport: Transport
  /// Sent with each request, such as a token.
  public var headers: [(String, String)] = []
  /// How long one attempt may take.
  public var timeout = Duration.seconds(10)
  /// How long a batch is tried again before it is dropped.
  public var retryLimit = Duration.seconds(60)
  /// How requests are compressed.
  public var compression = MessageCompression.none
  /// Whether the endpoint over HTTP is the URL of one signal, to which nothing is added.
  var isWholeURL = false
  /// How `https` is secured; `nil`: with the system's certificates.
  public var tls: ClientTLS?

  /// A collector at `endpoint`; by default the one of this machine.
  public init(endpoint: String? = nil, transport: Transport = .grpc) {
    self.transport = transport
    self.endpoint = endpoint ?? (transport == .grpc ? "http://localhost:4317" : "http://localhost:4318")
  }
}
