/// A `traceparent` header of the usual length, such as `00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01`, as
/// big-endian words, which calls parse and build in a few steps instead of character by character.
@usableFromInline package struct TraceParentText: Sendable {
  package static var byteCount: Int { 55 }
  package let words: InlineArray<7, UInt64>

  package init(_ words: InlineArray<7, UInt64>) { self.words = words }

  package var bytes: [UInt8] {
    (0..<Self.byteCount).map { UInt8(truncatingIfNeeded: words[$0 >> 3] >> UInt64(56 - 8 * ($0 & 7))) }
  }
}
