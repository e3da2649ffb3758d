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
  /// Whether the exporters of logs are there because nothing says otherwise.
  var exportsLogsByDefault = false
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
  /// Logs that exports fail, once each time that failures begin, and names of metrics that do not exist. By default, it writes
  /// to standard error; `quiet` switches it off.
  public var logger = Logger.standardError

  /// What the environment says, if it was asked.
  package var environment: TelemetryEnvironment?

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
    try sampler.check()
  }
}

extension TelemetryOptions {
  /// What has no effect.
  var remarks: [String] {
    let idle = exporters.contains { exporter in
      switch exporter {
      case .otlp(_, let signals), .console(let signals): signals.isEmpty
      case .spans: false
      }
    }
    return metrics.remarks + (idle ? ["an exporter has no signals, and exports nothing"] : []) + repetitions
      + (resource.serviceName.isEmpty ? ["serviceName is empty: nobody can tell whose telemetry it is"] : [])
  }
}

extension TelemetryOptions {
  /// What two exporters send to the same destination.
  private var repetitions: [String] {
    exporters.indices.flatMap { index in
      exporters[..<index].compactMap { exporters[index].repetition(of: $0) }
    }
  }

  /// Whether something about calls is exported.
  var exportsCalls: Bool {
    exporters.contains { exporter in
      switch exporter {
      case .otlp(_, let signals), .console(let signals):
        countsCalls && signals.contains(.metrics) || tracesCalls && signals.contains(.traces)
      case .spans: tracesCalls
      }
    }
  }

  /// Whether an exporter is there for logs. One for all signals may be there for the others.
  var asksForLogs: Bool {
    !exportsLogsByDefault
      && exporters.contains { exporter in
        switch exporter {
        case .otlp(_, let signals), .console(let signals):
          signals.contains(.logs) && signals.count < TelemetrySignal.allCases.count
        case .spans: false
        }
      }
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

extension TelemetryExporter {
  /// What this one and the other send to the same destination, in words.
  fileprivate func repetition(of other: TelemetryExporter) -> String? {
    switch (self, other) {
    case (.console(let own), .console(let others)):
      Self.repetition(own, others, "write", to: "standard error")
    case (.otlp(let own, let signals), .otlp(let others, let othersSignals))
    where own.hasDestination(of: others):
      Self.repetition(signals, othersSignals, "send", to: own.endpoint)
    default: nil
    }
  }

  private static func repetition(
    _ one: Set<TelemetrySignal>,
    _ other: Set<TelemetrySignal>,
    _ verb: String,
    to destination: String
  ) -> String? {
    let both = TelemetrySignal.allCases.filter { one.contains($0) && other.contains($0) }
    guard !both.isEmpty else { return nil }
    let names = both.map { "\($0)" }.joined(separator: ", ")
    return
      "exporters has two that \(verb) \(names) to \(destination), where everything is there twice: leave one out"
  }
}

extension OTLPOptions {
  /// Whether both are one to the collector, which may tell tenants by headers.
  fileprivate func hasDestination(of other: OTLPOptions) -> Bool {
    endpoint == other.endpoint && transport == other.transport && isWholeURL == other.isWholeURL
      && headers.elementsEqual(other.headers, by: ==)
  }
}
