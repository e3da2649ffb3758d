// unsafe: nghttp2: one owner a session, callbacks within one call into it

import CNghttp2
import SwitchboardCall

/// The header `traceparent`, appended to a block of headers that nghttp2 has encoded, as a literal that neither side indexes.
///
/// nghttp2 would apply Huffman coding to it. A value that differs in every call costs most of what a small header costs that
/// way, on both sides, to save some bytes. A server that wants it takes it from the end of the block before nghttp2 sees it.
enum LateTraceParent {
  /// Its size, as HTTP/2 counts it.
  static let listSize = 11 + SpanIdentity.textByteCount + 32

  /// A literal without indexing, whose name is no entry of a table: the name and the length of the value.
  private static let prefix: StaticString = "\u{00}\u{0b}traceparent\u{37}"

  /// Writes it into memory of `byteCount` bytes from `start`.
  static func write(_ identity: SpanIdentity, to memory: UnsafeMutableRawBufferPointer, at start: Int) {
    let name = UnsafeRawBufferPointer(start: prefix.utf8Start, count: prefix.utf8CodeUnitCount)
    UnsafeMutableRawBufferPointer(rebasing: memory[start...]).copyMemory(from: name)
    identity.write(to: memory, at: start + name.count)
  }

  static let byteCount = prefix.utf8CodeUnitCount + SpanIdentity.textByteCount
}

extension HPACKHeaders {
  mutating func add(traceParent: SpanIdentity) {
    append(name: "traceparent".utf8, value: traceParent.text)
  }
}

// MARK: - Receiving

extension LateTraceParent {
  /// What the header says with which a frame seems to end as `write` writes it. `nil` for all other frames, and for values
  /// that are left to the stream.
  static func identity(atEndOf frame: UnsafeRawBufferPointer) -> SpanIdentity? {
    let start = frame.count - byteCount
    guard start > FloodGuard.headSize else { return nil }
    let name = UnsafeRawBufferPointer(start: prefix.utf8Start, count: prefix.utf8CodeUnitCount)
    func word(_ bytes: UnsafeRawBufferPointer, _ offset: Int) -> UInt64 {
      bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
    }
    let nameEnd = start + name.count
    // Words may overlap.
    guard word(frame, start) == word(name, 0), word(frame, nameEnd - 8) == word(name, name.count - 8) else {
      return nil
    }
    return SpanIdentity(text: UnsafeRawBufferPointer(rebasing: frame[nameEnd...]))
  }
}

extension Session {
  /// Passes the stream the header that nghttp2 did not see. Not inlined: few connections use it.
  @inline(never)
  func deliverTraceParent(to stream: Unmanaged<StreamEntry>) {
    guard let identity = lateTraceParent.take(), countHeader(LateTraceParent.listSize - 32) else { return }
    stream.withStream { $0.receiveTraceParent(identity) }
  }

  /// Appends what was sent; if it is the headers of a request, with the header that was announced for them.
  func appendWithTraceParent(_ frame: UnsafeRawBufferPointer, to target: OutputBuffer) {
    guard let identity = traceParent(of: frame) else { return target.append(frame) }
    let count = frame.count + LateTraceParent.byteCount
    target.append(atMost: count) { memory in
      memory.copyMemory(from: frame)
      for index in 0..<3 {
        memory[index] = UInt8(truncatingIfNeeded: (count - FloodGuard.headSize) >> (16 - 8 * index))
      }
      LateTraceParent.write(identity, to: memory, at: frame.count)
      return count
    }
  }

  private func traceParent(of frame: UnsafeRawBufferPointer) -> SpanIdentity? {
    let wanted = UInt8(NGHTTP2_FLAG_END_HEADERS.rawValue)
    guard frame.count > FloodGuard.headSize, UInt32(frame[3]) == NGHTTP2_HEADERS.rawValue,
      frame[4] & (wanted | UInt8(NGHTTP2_FLAG_PADDED.rawValue)) == wanted
    else { return nil }
    let id = UInt32(bigEndian: frame.loadUnaligned(fromByteOffset: 5, as: UInt32.self)) & 0x7fff_ffff
    guard let data = nghttp2_session_get_stream_user_data(raw, Int32(id)) else { return nil }
    return Unmanaged<StreamEntry>.fromOpaque(data).withStream { $0.takeTraceParent() }
  }
}
