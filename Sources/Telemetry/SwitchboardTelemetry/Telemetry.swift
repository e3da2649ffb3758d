import Switchboard
public import SwitchboardCall
import SwitchboardNetwork
import SwitchboardTransport

/// Metrics, traces and logs of a process, and the context that its calls pass on.
///
/// ```swift
/// let telemetry = try Telemetry(options)
/// serverOptions.observer = telemetry.observer()
/// channelOptions.observer = telemetry.observer(passingOn: [.deadline, .cancellation])
/// ```
/// Make one for the process. Its servers and channels share the metrics. `shutDown` exports what is left.
public final class Telemetry: Sendable {
  /// The metrics of the process, to which the program can add its own.
  public let metrics: TelemetryMetrics
  /// Makes the program's own spans. Spans of calls are made automatically.
  public let tracer: Tracer

  /// What it was made with.
  package let options: TelemetryOptions
  let pages: PageWriter
  let parts: TelemetryParts
  /// One for each exporter of the signal.
  private let spans: [BatchQueue<SpanRecord>]
  private let logs: [BatchQueue<LogRecord>]
  private let readers: [MetricReader]
  private let unended = SpanCount()
  private let group: LoopGroup
  private let logger: Logger
  private let time: ExportTime
  /// The servers of metrics. `nil` once it is shut down.
  private let servers = Locked<[Server]?>([])
  private let writers = Locked<[KeptWriter]>([])

  /// Starts exporting. Throws if an endpoint, a certificate, a header or another option is invalid, or if the system is
  /// out of resources.
  public convenience init(_ options: TelemetryOptions) throws(GRPCStatus) {
    try self.init(options, clock: TelemetryClock(), ids: IDGenerator())
  }

  init(
    _ options: TelemetryOptions,
    clock: TelemetryClock,
    ids: IDGenerator,
    time: (any CallTime)? = nil,
    exporters: [any BatchExporter] = []
  ) throws(GRPCStatus) {
    try options.check()
    for remark in options.remarks { options.logger.log(.warning, "TelemetryOptions: \(remark)") }
    self.options = options
    logger = options.logger
    let resource = options.resource.complete
    // Exports run on their own thread, so that no call waits for one.
    let group = try LoopGroup()
    self.group = group
    var exportTime = ExportTime(loop: group.nextLoop())
    if let time { exportTime.time = time }
    let lanes = try Self.lanes(options, resource, clock, exportTime, on: group, to: exporters)
    self.time = exportTime
    let spans = (lanes[.traces] ?? []).map { lane in
      BatchQueue<SpanRecord>(options.batch, exportTime, lane) { .spans($0) }
    }
    self.spans = spans
    logs = (lanes[.logs] ?? []).map { lane in
      BatchQueue<LogRecord>(options.logBatch ?? options.batch, exportTime, lane) { .logs($0) }
    }
    let metrics = TelemetryMetrics(clock, limit: options.cardinalityLimit, options.metrics, options.logger)
    self.metrics = metrics
    pages = PageWriter(metrics, resource, exportTime)
    let use = TelemetryUse(
      exportsCalls: options.exportsCalls,
      exportsLogs: options.asksForLogs,
      options.logger
    )
    readers = (lanes[.metrics] ?? []).map {
      MetricReader(metrics, every: options.metricInterval, exportTime, $0, use)
    }
    tracer = Tracer(
      clock,
      options.sampler,
      SpanLimits(),
      ids,
      isEnabled: !spans.isEmpty,
      sink: { span in
        let cost = span.cost
        for queue in spans { queue.add(span, cost: cost) }
      },
      lost: { [unended] in unended.count.withLock { $0 += 1 } }
    )
    let keeping = CallKeeping()
    parts = TelemetryParts(
      clock,
      keeping,
      serverMeters: options.countsCalls
        ? CallMeters(isServer: true, limit: options.cardinalityLimit, keeping) : nil,
      clientMeters: options.countsCalls
        ? CallMeters(
          isServer: false,
          limit: options.cardinalityLimit,
          labels: CallFamilies.optionalLabels.filter(options.metrics.optionalLabels.contains),
          keeping
        ) : nil,
      connections: options.countsCalls
        ? ConnectionMeters(limit: options.cardinalityLimit, labels: options.metrics.optionalLabels) : nil,
      metrics: options.countsCalls ? metrics : nil,
      tracer: options.tracesCalls ? tracer : nil,
      givesContext: options.tracesCalls || options.givesContext,
      propagators: options.propagators,
      hasMessageEvents: options.recordsMessages,
      spanOfTask: options.spanOfTask,
      use: use
    )
    for source in [parts.serverMeters, parts.clientMeters] { if let source { metrics.add(source) } }
    if let connections = parts.connections { metrics.add(connections) }
    metrics.add(DropMeter(self))
    if let lines = options.logger.handler as? LineLog { keep(lines.writer) }
  }

  /// The lanes from each signal to its exporters.
  private static func lanes(
    _ options: TelemetryOptions,
    _ resource: Resource,
    _ clock: TelemetryClock,
    _ time: ExportTime,
    on group: LoopGroup,
    to exporters: [any BatchExporter]
  ) throws(GRPCStatus) -> [TelemetrySignal: [ExportLane]] {
    var lanes: [TelemetrySignal: [ExportLane]] = [:]
    func add(_ exporter: any BatchExporter, _ signals: Set<TelemetrySignal>, _ limit: Duration?) {
      for signal in signals {
        let lane = ExportLane(exporter, signal, time, limit: limit, options.logger)
        lanes[signal, default: []].append(lane)
      }
    }
    for exporter in exporters { add(exporter, Set(TelemetrySignal.allCases), .seconds(60)) }
    var console: ConsoleExporter?
    for exporter in options.exporters {
      switch exporter {
      case .console(let signals):
        let shared = console ?? ConsoleExporter(clock)
        console = shared
        add(shared, signals, nil)
      case .spans(let take):
        add(SpanSink(clock, take), [.traces], nil)
      case .otlp(let otlp, let signals):
        add(try otlp.makeExporter(resource, clock, group), signals, otlp.retryLimit)
      }
    }
    return lanes
  }

  private var exports: [any SignalExport] { spans + logs + readers }

  deinit {
    if servers.withLock({ $0 != nil }), !exports.isEmpty {
      logger.log(
        .warning,
        "telemetry was released without shutDown(), and exports nothing any more: keep it, and await its shutDown() at the end"
      )
    }
    for export in exports { export.stop() }
  }

  // MARK: Servers and channels

  /// Makes an observer that counts and traces the calls of servers and channels. `propagation` selects what a channel's
  /// calls inherit from the call that the calling task serves, whose server needs an observer of telemetry too.
  public func observer(passingOn propagation: ContextPropagation = .nothing) -> any CallObserver {
    if servers.withLock({ $0 == nil }) {
      logger.log(.warning, "an observer was made of telemetry that was shut down: nothing of it is exported")
    }
    for remark in propagation.remarks(givesContext: parts.givesContext) {
      logger.log(.warning, "observer(passingOn:): \(remark)")
    }
    return CallTelemetry(parts, propagation, logger)
  }

  /// The loop of exports.
  var exportLoop: any EventLoop { time.loop }

  // MARK: Logs

  /// Exports a log record.
  func record(_ record: LogRecord) {
    let cost = record.cost
    for queue in logs { queue.add(record, cost: cost) }
  }

  /// A log record with the current time and the task's span.
  func logRecord(_ level: LogLevel, _ message: String, _ metadata: [String: String]) -> LogRecord {
    LogRecord(
      date: metrics.clock.date(of: metrics.clock.now),
      level: level,
      message: message.limited(to: 32 * 1024),
      attributes: metadata.sorted { $0.key < $1.key }.prefix(128)
        .map { Attribute($0.key.limited(to: 256), .string($0.value.limited(to: 4096))) },
      context: parts.spanOfTask?() ?? CallContext.current?.spanContext
    )
  }

  // MARK: The end

  /// Shuts a server down together with the telemetry. Throws `FAILED_PRECONDITION` if that has happened.
  func keep(_ server: Server) throws(GRPCStatus) {
    guard servers.withLock({ $0?.append(server) }) != nil else {
      throw GRPCStatus(code: .failedPrecondition, message: "the telemetry was shut down")
    }
  }

  /// Waits at the end for the lines of this writer.
  func keep(_ writer: LineWriter) {
    writers.withLock { writers in
      writers.removeAll { $0.writer == nil }
      writers.append(KeptWriter(writer: writer))
    }
  }

  /// What was lost so far, by signal.
  public var drops: [TelemetrySignal: TelemetryDrops] {
    let none = TelemetrySignal.allCases.map { ($0, TelemetryDrops()) }
    var drops = Dictionary(uniqueKeysWithValues: none)
    for export in exports { drops[export.lane.signal]? += export.drops }
    drops[.traces]?.unended = unended.count.withLock { $0 }
    return drops
  }

  /// Exports everything that has been recorded. Returns when that is done, or after `limit`.
  public func flush(within limit: Duration = .seconds(10)) async {
    let end = time.now + limit
    await withTaskGroup { group in
      for export in exports { group.addTask { await export.flush(until: end) } }
    }
  }

  /// Exports what is left, for up to `limit`, and then stops. Exports that take longer are cancelled. Waits until the
  /// lines of its logs are written, for up to half a second, because the process may end next.
  public func shutDown(within limit: Duration = .seconds(10)) async {
    parts.use.end()
    let unfinished = unfinishedCalls
    if unfinished > 0, !exports.isEmpty {
      logger.log(
        .warning,
        "telemetry was shut down while calls were in progress, of which it exports nothing more: shut servers and channels down "
          + "first",
        ["calls": "\(unfinished)"]
      )
    }
    await flush(within: limit)
    for export in exports { export.stop() }
    for export in exports { await export.waitForEnd() }
    let servers = servers.withLock { servers in
      defer { servers = nil }
      return servers ?? []
    }
    for server in servers { await server.shutDown(grace: .zero) }
    pages.stop()
    for export in exports { await export.lane.shutDown() }
    group.shutDown()
    let end = time.now + .milliseconds(500)
    for writer in writers.withLock({ $0.compactMap(\.writer) }) {
      await writer.flush(within: time.now.duration(to: end), time.time)
    }
  }
}

/// The writer of a log that uses the telemetry, or that it uses. Weak, because each has a descriptor.
private struct KeptWriter {
  weak var writer: LineWriter?
}

/// The number of spans that were never ended.
private final class SpanCount: Sendable {
  let count = Locked(0)
}
