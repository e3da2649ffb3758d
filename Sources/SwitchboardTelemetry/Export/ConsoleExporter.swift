import SwitchboardCall
import SwitchboardHTTP2

/// Writes each span, metric or log record of one signal to standard error, as a line.
final class ConsoleExporter: BatchExporter {
  private let writer: LineWriter
  private let clock: TelemetryClock
  /// The number of dropped lines that results have reported as lost.
  private let reported = Locked(0)

  init(_ clock: TelemetryClock, descriptor: Int32 = 2) {
    self.clock = clock
    writer = LineWriter(descriptor, capacity: 1 << 20)
  }

  deinit { writer.close() }

  func export(_ batch: ExportBatch) async -> ExportResult {
    switch batch {
    case .spans(let spans): for span in spans { writer.write(line(span)) }
    case .logs(let records): for record in records { writer.write(LogFormat.logfmt.line(record)) }
    case .metrics(let snapshot):
      for family in snapshot.families {
        for point in family.points { writer.write(line(family, point)) }
      }
    }
    // The lines are written on another thread. Those that it does not write in this time count with a later batch.
    await writer.flush(within: .milliseconds(500))
    let lost = reported.withLock { reported in
      let lost = min(writer.droppedCount - reported, batch.count)
      reported += lost
      return lost
    }
    return .taken(rejected: lost, message: lost > 0 ? "the lines cannot be written" : "")
  }

  func shutDown() async {
    // After this time, the writer's thread still writes the rest, unless the process ends.
    await writer.flush(within: .milliseconds(500))
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
      fields.append(("sum", "\(value.sum)"))
    }
    return LogFormat.logfmt(fields)
  }
}
