/// A span that has ended, as `TelemetryExporter.spans` passes it to the program.
public struct FinishedSpan: Sendable {
  /// The name.
  public let name: String
  /// The identity.
  public let context: SpanContext
  /// The parent span. `nil` for the first span of a trace.
  public let parent: SpanID?
  /// The kind.
  public let kind: Span.Kind
  /// The start, in nanoseconds since 1970.
  public let start: UInt64
  /// The end, in nanoseconds since 1970.
  public let end: UInt64
  /// The attributes.
  public let attributes: [String: AttributeValue]
  /// The names of the events, in order.
  public let events: [String]
  /// The reason of the failure. `nil` if the span has not failed.
  public let failure: String?

  init(_ record: SpanRecord, _ clock: TelemetryClock) {
    name = record.state.name
    context = record.context
    parent = record.parent
    kind = record.kind
    start = clock.date(of: record.start)
    end = clock.date(of: record.end)
    attributes = Dictionary(record.state.attributes.map { ($0.key, $0.value) }) { _, last in last }
    events = record.state.events.map(\.name)
    failure = record.state.failure
  }
}

/// Passes spans to the program.
final class SpanSink: BatchExporter {
  let destination = "the program"
  private let take: @Sendable ([FinishedSpan]) -> Void
  private let clock: TelemetryClock

  init(_ clock: TelemetryClock, _ take: @escaping @Sendable ([FinishedSpan]) -> Void) {
    self.clock = clock
    self.take = take
  }

  func export(_ batch: ExportBatch, within limit: Duration?) async -> ExportResult {
    if case .spans(let spans) = batch { take(spans.map { FinishedSpan($0, clock) }) }
    return .whole
  }

  func shutDown() async {}
}
