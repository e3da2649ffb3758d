/// Decides which traces are recorded.
///
/// ```swift
/// options.sampler = .parentBased(.ratio(0.01))
/// ```
public indirect enum Sampler: Sendable, Hashable {
  /// Records all traces.
  case always
  /// Records no traces. Their identities are still passed on.
  case never
  /// Records this share of the traces, from 0 to 1. The choice depends on the identity of the trace, so that all
  /// services with the same share record the same traces.
  case ratio(Double)
  /// Follows the caller's decision. For traces that begin here, another sampler decides.
  case parentBased(Sampler)

  func samples(_ traceID: TraceID, parent: SpanContext?) -> Bool {
    switch self {
    case .always: true
    case .never: false
    case .ratio(let share): Self.isBelow(share, traceID)
    case .parentBased(let root): parent?.isSampled ?? root.samples(traceID, parent: nil)
    }
  }

  /// The last seven bytes of a trace's identity are random.
  private static func isBelow(_ share: Double, _ traceID: TraceID) -> Bool {
    guard share < 1 else { return true }
    guard share > 0 else { return false }
    let random = traceID.low & (1 << 56 - 1)
    return random >= UInt64((1 - share) * Double(1 << 56))
  }
}
