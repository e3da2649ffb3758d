import SwitchboardCall
import SwitchboardTransport

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

  /// The identity has to be there.
  init(_ identity: SpanIdentity, _ traceState: String) {
    self.init(
      traceID: identity.traceID,
      spanID: identity.spanID,
      isSampled: identity.isSampled,
      traceState: traceState,
      isRemote: identity.isRemote
    )
  }

  var identity: SpanIdentity { SpanIdentity(traceID, spanID, isSampled: isSampled, isRemote: isRemote) }

  /// The value of `traceparent` for requests that are made in the span.
  public var traceParent: String { String(decoding: identity.text, as: UTF8.self) }

  /// The context of a call that keeps only these identities. Its trace is not recorded. `nil` if the call has none.
  init?(_ stamp: CallStamp) {
    guard stamp.identity.isValid else { return nil }
    self.init(stamp.identity, "")
  }

  /// The context of another span of the same trace.
  func child(_ spanID: SpanID, isSampled: Bool) -> SpanContext {
    SpanContext(traceID: traceID, spanID: spanID, isSampled: isSampled, traceState: traceState)
  }
}

extension SpanIdentity {
  @inline(__always)
  init(_ traceID: TraceID, _ spanID: SpanID, isSampled: Bool, isRemote: Bool = false) {
    self.init()
    traceHigh = traceID.high
    traceLow = traceID.low
    span = spanID.value
    flags = isSampled ? 1 : 0
    self.isRemote = isRemote
  }

  @inline(__always)
  static var none: SpanIdentity { SpanIdentity() }

  /// No span is numbered 0.
  var isValid: Bool { span != 0 }
  var isSampled: Bool { flags & 1 == 1 }
  var traceID: TraceID { TraceID(high: traceHigh, low: traceLow) }
  var spanID: SpanID { SpanID(span) }
}
