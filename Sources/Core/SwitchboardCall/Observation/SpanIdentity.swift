/// What `traceparent` says of a span, as plain numbers: copying them counts no references.
@usableFromInline package struct SpanIdentity: Sendable {
  package var traceHigh: UInt64 = 0
  package var traceLow: UInt64 = 0
  /// Zero if there is no span.
  package var span: UInt64 = 0
  /// The lowest bit says whether the trace is recorded.
  package var flags: UInt8 = 0
  package var isRemote = false

  @inlinable package init() {}
}
