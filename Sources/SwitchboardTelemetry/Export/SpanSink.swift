/// A span that has ended, for programs that take spans themselves.
public struct FinishedSpan: Sendable {
  /// What it is called.
  public let name: String
  /// Its identity.
  public let context: SpanContext
  /// The span that it belongs to; `nil` for the first of a trace.
  public let parent: SpanID?
  /// What it is to that.
  public let kind: Span.Kind
  /// In nanoseconds since 1970.
  public let start: UInt64
  /// In nanoseconds since 1970.
  public let end: UInt64
  /// What was set.
  public let attributes: [String: AttributeValue]
  /// The names of its events, in order.
  public let events: [String]
  /// Why it failed; `nil` if it did not.
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

/// Hands spans to the program.
final class SpanSink: BatchExporter {
  private let take: @Sendable ([FinishedSpan]) -> Void
  private let clock: TelemetryClock

  init(_ clock: TelemetryClock, _ take: @escaping @Sendable ([FinishedSpan]) -> Void) {
    self.clock = clock
    self.take = take
  }

  func export(_ batch: ExportBatch) async -> ExportResult {
    if case .spans(let spans) = batch { take(spans.map { FinishedSpan($0, clock) }) }
    return .whole
  }

  func shutDown() async {}
}
