import SwitchboardCall

/// What travels with a call of a span: the identities, and whether the trace is recorded.
public struct SpanContext: Sendable, Hashable {
  /// The trace.
  public let traceID: TraceID
  /// The span.
  public let spanID: SpanID
  /// Whether the trace is recorded.
  public let isSampled: Bool
  /// What vendors add to the trace, from `tracestate`; empty in most.
  public let traceState: String
  /// Whether the span is another process's.
  public let isRemote: Bool

  init(
    traceID: TraceID,
    spanID: SpanID,
    isSampled: Bool,
    traceState: String = "",
    isRemote: Bool = false
  ) {
    self.traceID = traceID
    self.spanID = spanID
    self.isSampled = isSampled
    self.traceState = traceState
    self.isRemote = isRemote
  }

  /// The span that the headers of a request name, where another protocol than gRPC carries them; `nil` if they name none.
  public init?(traceParent: String, traceState: String = "") {
    guard let read = TraceParent.read(Array(traceParent.utf8)) else { return nil }
    self.init(
      traceID: read.0,
      spanID: read.1,
      isSampled: read.isSampled,
      traceState: TraceState.read([traceState]),
      isRemote: true
    )
  }

  /// The value of `traceparent` for a request that is made in the span.
  public var traceParent: String {
    String(decoding: TraceParent.text(self).bytes, as: UTF8.self)
  }

  /// The span of a call that keeps no more than this of it; `nil`: it has none. Such traces are not recorded.
  init?(_ stamp: CallStamp) {
    guard stamp.span != 0 else { return nil }
    self.init(
      traceID: TraceID(high: stamp.traceHigh, low: stamp.traceLow),
      spanID: SpanID(stamp.span),
      isSampled: false
    )
  }

  /// A span of the same trace.
  func child(_ spanID: SpanID, isSampled: Bool) -> SpanContext {
    SpanContext(traceID: traceID, spanID: spanID, isSampled: isSampled, traceState: traceState)
  }
}
