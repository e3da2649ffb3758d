import CNghttp2
import SwitchboardCall

/// The header `traceparent`, appended to a block of headers that nghttp2 has encoded, as a literal that neither side indexes.
///
/// nghttp2 would apply Huffman coding to it. A value that differs in every call costs most of what a small header costs that
/// way, on both sides, to save some bytes.
enum LateTraceParent {
  /// Its size, as HTTP/2 counts it.
  static let listSize = 11 + TraceParentText.byteCount + 32

  /// A literal without indexing, whose name is no entry of a table: the name and the length of the value.
  private static let prefix: StaticString = "\u{00}\u{0b}traceparent\u{37}"

  static func append(_ text: TraceParentText, to target: OutputBuffer) {
    target.append(UnsafeRawBufferPointer(start: prefix.utf8Start, count: prefix.utf8CodeUnitCount))
    var words = text.words
    for index in words.indices { words[index] = words[index].bigEndian }
    words.span.withUnsafeBytes {
      target.append(UnsafeRawBufferPointer(rebasing: $0[..<TraceParentText.byteCount]))
    }
  }

  static let byteCount = prefix.utf8CodeUnitCount + TraceParentText.byteCount
}

extension Session {
  /// Appends what was sent; if it is the headers of a request, with the header that was announced for them.
  func appendWithTraceParent(_ frame: UnsafeRawBufferPointer, to target: OutputBuffer) {
    guard let text = traceParent(of: frame) else { return target.append(frame) }
    let length = frame.count - 9 + LateTraceParent.byteCount
    let head: InlineArray<9, UInt8> = [
      UInt8(truncatingIfNeeded: length >> 16), UInt8(truncatingIfNeeded: length >> 8),
      UInt8(truncatingIfNeeded: length), frame[3], frame[4], frame[5], frame[6], frame[7], frame[8],
    ]
    head.span.withUnsafeBytes { target.append($0) }
    target.append(UnsafeRawBufferPointer(rebasing: frame[9...]))
    LateTraceParent.append(text, to: target)
  }

  private func traceParent(of frame: UnsafeRawBufferPointer) -> TraceParentText? {
    let wanted = UInt8(NGHTTP2_FLAG_END_HEADERS.rawValue)
    guard frame.count > 9, UInt32(frame[3]) == NGHTTP2_HEADERS.rawValue,
      frame[4] & (wanted | UInt8(NGHTTP2_FLAG_PADDED.rawValue)) == wanted
    else { return nil }
    let id = UInt32(bigEndian: frame.loadUnaligned(fromByteOffset: 5, as: UInt32.self)) & 0x7fff_ffff
    guard let stream = stream(Int32(id)) else { return nil }
    var text: TraceParentText?
    Unmanaged.passUnretained(stream).withStream { text = $0.takeTraceParent() }
    return text
  }
}
