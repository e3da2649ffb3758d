/// The result of exporting a batch.
enum ExportResult: Sendable, Equatable {
  /// The collector took all but `rejected` items.
  case taken(rejected: Int, message: String)
  /// The batch may be sent again, after this time if the collector has set one.
  case retry(after: Duration?, String)
  /// The collector does not take this much at once.
  case tooLarge(String)
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

  /// The approximate number of bytes that it takes in memory.
  var cost: Int {
    switch self {
    case .spans(let spans): spans.reduce(0) { $0 + $1.cost }
    case .metrics(let snapshot): snapshot.families.reduce(0) { $0 + $1.cost }
    case .logs(let records): records.reduce(0) { $0 + $1.cost }
    }
  }

  /// The maximum cost of what is sent in one request, unless it is a single item. As OTLP, items take fewer bytes than
  /// in memory, and servers of gRPC accept 4 MiB by default.
  static let costLimit = 2 << 20

  /// The two halves.
  var halves: [ExportBatch] {
    switch self {
    case .spans(let spans): spans.halves.map { .spans($0) }
    case .metrics(let snapshot): snapshot.halves.map { .metrics($0) }
    case .logs(let records): records.halves.map { .logs($0) }
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

extension Array {
  fileprivate var halves: [[Element]] { [Array(prefix(count / 2)), Array(dropFirst(count / 2))] }
}

/// Sends batches somewhere.
protocol BatchExporter: Sendable {
  /// What takes the batches, in messages.
  var destination: String { get }
  /// Makes one attempt, which gives up after `limit`.
  func export(_ batch: ExportBatch, within limit: Duration?) async -> ExportResult
  func shutDown() async
}
