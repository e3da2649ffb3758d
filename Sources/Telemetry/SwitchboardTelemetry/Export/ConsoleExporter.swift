import SwitchboardCall
import SwitchboardTransport

/// Writes each span, metric or log record to standard error, as a line. One exporter writes all signals of a process, so
/// that its lines stay whole.
final class ConsoleExporter: BatchExporter {
  let destination = "the console"
  private let writer: LineWriter
  private let clock: TelemetryClock
  private let time: any CallTime
  private let state = Locked(State())

  private struct State {
    /// The number of dropped lines that results have reported as lost, by signal.
    var reported: [TelemetrySignal: Int] = [:]
    var isShutDown = false
  }

  init(_ clock: TelemetryClock, descriptor: Int32 = 2, time: any CallTime = SystemTime()) {
    self.clock = clock
    self.time = time
    writer = LineWriter(descriptor, capacity: 1 << 20, of: "lines")
  }

  deinit { writer.close() }

  func export(_ batch: ExportBatch, within limit: Duration?) async -> ExportResult {
    let source = batch.signal.number
    switch batch {
    case .spans(let spans): for span in spans { writer.write(line(span), from: source) }
    case .logs(let records):
      for record in records { writer.write(LogFormat.logfmt.line(record), from: source) }
    case .metrics(let snapshot):
      for family in snapshot.families {
        for point in family.points { writer.write(line(family, point), from: source) }
      }
    }
    // The lines are written on another thread. What it loses later counts with a later batch.
    await writer.flush(within: .milliseconds(500), time, unlessBlocked: true)
    let lost = state.withLock { state in
      let reported = state.reported[batch.signal, default: 0]
      let lost = min(writer.droppedCount(from: source) - reported, batch.count)
      state.reported[batch.signal] = reported + lost
      return lost
    }
    return .taken(rejected: lost, message: lost > 0 ? "the lines cannot be written" : "")
  }

  /// Each signal shuts it down, but the first one is enough.
  func shutDown() async {
    guard
      state.withLock({ state in
        defer { state.isShutDown = true }
        return !state.isShutDown
      })
    else { return }
    // After this time, the writer's thread still writes the rest, unless the process ends.
    await writer.flush(within: .milliseconds(500), time)
  }

  private func line(_ span: SpanRecord) -> String {
    var fields: [(String, String)] = [
      ("span", span.state.name),
      ("trace", span.context.traceID.description),
      ("id", span.context.spanID.description),
    ]
    if let parent = span.parent { fields.append(("parent", parent.description)) }
    fields.append(("kind", "\(span.kind)"))
    fields.append(("start", LogFormat.timestamp(clock.date(of: span.start))))
    fields.append(("us", "\((span.end &- span.start) / 1000)"))
    fields += span.state.attributes.map { ($0.key, $0.value.description) }
    if let failure = span.state.failure { fields.append(("error", failure)) }
    return LogFormat.logfmt(fields)
  }

  private func line(_ family: MetricFamily, _ point: MetricPoint) -> String {
    var fields: [(String, String)] = [("metric", family.descriptor.name)]
    fields += point.attributes.map { ($0.key, $0.value.description) }
    switch point.value {
    case .int(let value): fields.append(("value", "\(value)"))
    case .double(let value): fields.append(("value", "\(value)"))
    case .histogram(let value):
      fields.append(("count", "\(value.count)"))
      if let sum = value.sum { fields.append(("sum", "\(sum)")) }
    }
    return LogFormat.logfmt(fields)
  }
}

extension TelemetrySignal {
  /// Distinguishes its lines from those of other signals.
  fileprivate var number: Int {
    switch self {
    case .traces: 0
    case .metrics: 1
    case .logs: 2
    }
  }
}
