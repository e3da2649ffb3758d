/// The result of exporting a batch.
enum ExportResult: Sendable, Equatable {
  /// The collector took all but `rejected` items.
  case taken(rejected: Int, message: String)
  /// The batch may be sent again, after this time if the collector has set one.
  case retry(after: Duration?, String)
  /// The collector will never take the batch.
  case refused(String)

  static let whole = ExportResult.taken(rejected: 0, message: "")
}

/// A number of items of one signal that are exported together.
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

  /// What it has a number of, in messages.
  var items: String {
    switch self {
    case .spans: "spans"
    case .metrics: "points"
    case .logs: "log records"
    }
  }
}

/// Sends batches somewhere.
protocol BatchExporter: Sendable {
  /// What takes the batches, in messages.
  var destination: String { get }
  /// Makes one attempt, which gives up after `limit`.
  func export(_ batch: ExportBatch, within limit: Duration?) async -> ExportResult
  func shutDown() async
}
