/// What became of a batch.
enum ExportResult: Sendable, Equatable {
  /// All of it was taken, except for so many.
  case taken(rejected: Int, message: String)
  /// It may be sent again, after this time if the collector says so.
  case retry(after: Duration?, String)
  /// It will never be taken.
  case refused(String)

  static let whole = ExportResult.taken(rejected: 0, message: "")
}

/// What is exported together: of one signal.
enum ExportBatch: Sendable {
  case spans([SpanRecord])
  case metrics(MetricSnapshot)
  case logs([LogRecord])

  var signal: TelemetrySignal {
    switch self {
    case .spans: .traces
    case .metrics: .metrics
    case .logs: .logs
    }
  }

  var count: Int {
    switch self {
    case .spans(let spans): spans.count
    case .metrics(let snapshot): snapshot.families.reduce(0) { $0 + $1.points.count }
    case .logs(let records): records.count
    }
  }
}

/// Sends batches somewhere.
protocol BatchExporter: Sendable {
  func export(_ batch: ExportBatch) async -> ExportResult
  func shutDown() async
}

/// How many spans, points or records did not get where they should, of each signal.
public struct TelemetryDrops: Sendable, Hashable {
  /// There was no room for them in the queue.
  public var queueFull = 0
  /// The collector refused them, or could not be reached for too long.
  public var notExported = 0
  /// Spans that were never ended.
  public var unended = 0
}
