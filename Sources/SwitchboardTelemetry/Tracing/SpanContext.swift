import SwitchboardCall

/// What calls pass on of a span: the identities, and whether the trace is recorded.
public struct SpanContext: Sendable, Hashable {
  /// The identity of the trace.
  public let traceID: TraceID
  /// The identity of the span.
  public let spanID: SpanID
  /// Whether the trace is recorded.
  public let isSampled: Bool
  /// The value of `tracestate`, which vendors define. Usually empty.
  public let traceState: String
  /// Whether the span belongs to another process.
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

  /// Reads the headers of a request that another protocol than gRPC carries. `nil` if `traceParent` is invalid.
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

  /// `nil` if the header is invalid.
  init?(_ text: TraceParentText) {
    guard let read = TraceParent.read(text) else { return nil }
    self.init(traceID: read.0, spanID: read.1, isSampled: read.isSampled, isRemote: true)
  }

  /// The value of `traceparent` for requests that are made in the span.
  public var traceParent: String {
    String(decoding: TraceParent.text(self).bytes, as: UTF8.self)
  }

  /// The context of a call that keeps only these identities. Its trace is not recorded. `nil` if the call has none.
  init?(_ stamp: CallStamp) {
    guard stamp.span != 0 else { return nil }
    self.init(
      traceID: TraceID(high: stamp.traceHigh, low: stamp.traceLow),
      spanID: SpanID(stamp.span),
      isSampled: false
    )
  }

  /// The context of another span of the same trace.
  func child(_ spanID: SpanID, isSampled: Bool) -> SpanContext {
    SpanContext(traceID: traceID, spanID: spanID, isSampled: isSampled, traceState: traceState)
  }
}
