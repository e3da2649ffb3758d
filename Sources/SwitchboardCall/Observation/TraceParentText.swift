/// A `traceparent` header of the usual length, such as `00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01`, as
/// big-endian words, which calls parse and build in a few steps instead of character by character.
@usableFromInline package struct TraceParentText: Sendable {
  package static var byteCount: Int { 55 }
  package let words: InlineArray<7, UInt64>

  package init(_ words: InlineArray<7, UInt64>) { self.words = words }

  /// Returns `nil` if the text has another length.
  package init?(_ text: UnsafeBufferPointer<UInt8>) {
    guard text.count == Self.byteCount else { return nil }
    let bytes = UnsafeRawBufferPointer(text)
    func word(_ offset: Int) -> UInt64 {
      UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
    }
    words = [word(0), word(8), word(16), word(24), word(32), word(40), word(47) << 8]
  }

  package var bytes: [UInt8] {
    (0..<Self.byteCount).map { UInt8(truncatingIfNeeded: words[$0 >> 3] >> UInt64(56 - 8 * ($0 & 7))) }
  }
}
