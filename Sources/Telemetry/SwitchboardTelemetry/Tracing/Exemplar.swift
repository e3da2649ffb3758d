/// A recorded value and the span in which it was recorded, which links a histogram to a trace.
struct Exemplar: Sendable, Hashable {
  let value: Double
  /// In nanoseconds since 1970.
  let date: UInt64
  let traceID: TraceID
  let spanID: SpanID
}

extension SpanContext {
  func exemplar(_ value: Double, _ date: UInt64) -> Exemplar? {
    guard isSampled else { return nil }
    return Exemplar(value: value, date: date, traceID: traceID, spanID: spanID)
  }
}
