import Switchboard
import SwitchboardCall
import Synchronization

@testable import SwitchboardTelemetry

/// Keeps what is exported, and answers what the test says.
final class CapturingExporter: BatchExporter {
  let destination = "the collector"
  private struct State: Sendable {
    var spans: [SpanRecord] = []
    var logs: [LogRecord] = []
    var snapshots: [MetricSnapshot] = []
    var answers: [ExportResult] = []
    var attempts = 0
    var limits: [Duration?] = []
  }

  private let state = Locked(State())
  private let gate = AsyncStream<Void>.makeStream()

  /// One that `isHeld` takes nothing before `release`.
  init(isHeld: Bool = false) {
    if !isHeld { release() }
  }

  func release() { gate.continuation.finish() }

  var spans: [SpanRecord] { state.withLock { $0.spans } }
  var logs: [LogRecord] { state.withLock { $0.logs } }
  var snapshots: [MetricSnapshot] { state.withLock { $0.snapshots } }
  var attempts: Int { state.withLock { $0.attempts } }
  /// How long each attempt might take.
  var limits: [Duration?] { state.withLock { $0.limits } }

  /// What the next exports are answered; then all are taken.
  func answer(_ results: [ExportResult]) { state.withLock { $0.answers = results } }

  func export(_ batch: ExportBatch, within limit: Duration?) async -> ExportResult {
    state.withLock { state in
      state.attempts += 1
      state.limits.append(limit)
    }
    for await _ in gate.stream {}
    return state.withLock { state in
      let result = state.answers.isEmpty ? .whole : state.answers.removeFirst()
      guard case .taken = result else { return result }
      switch batch {
      case .spans(let spans): state.spans += spans
      case .metrics(let snapshot): state.snapshots.append(snapshot)
      case .logs(let records): state.logs += records
      }
      return result
    }
  }

  func shutDown() async {}

  func span(_ name: String) -> SpanRecord? { spans.first { $0.state.name == name } }
}

extension SpanRecord {
  func attribute(_ key: String) -> AttributeValue? { state.attributes.first { $0.key == key }?.value }
}

extension Telemetry {
  /// Telemetry that exports to these, with identities that are the same in each run.
  static func capturing(
    _ exporters: CapturingExporter...,
    clock: TelemetryClock = TelemetryClock(),
    time: (any CallTime)? = nil,
    _ change: (inout TelemetryOptions) -> Void = { _ in }
  ) throws -> Telemetry {
    var options = TelemetryOptions(serviceName: "test")
    options.metricInterval = .seconds(3600)
    options.batch.delay = .seconds(3600)
    change(&options)
    let ids = IDGenerator(seed: 1)
    return try Telemetry(options, clock: clock, ids: ids, time: time, exporters: exporters)
  }

  /// The lines of the page for scrapers that begin with this.
  func lines(_ prefix: String, accept: String = "") -> [String] {
    metricsText(accept: accept).text.split(separator: "\n").map(String.init).filter { $0.hasPrefix(prefix) }
  }
}
