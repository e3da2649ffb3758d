// unsafe: nghttp2: one owner a session, callbacks within one call into it

import SwitchboardCall
import SwitchboardNetwork

/// The header `traceparent`, appended to a block of headers that nghttp2 has encoded, as a literal that neither side indexes.
///
/// nghttp2 would apply Huffman coding to it. A value that differs in every call costs most of what a small header costs that
/// way, on both sides, to save some bytes. A server that wants it takes it from the end of the block before nghttp2 sees it.
enum LateTraceParent {
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

  /// Calls `pass` with the head of a frame that ends with it, whose length is that of the rest, and with the rest, until it
  /// returns a negative error.
  static func passRest(of frame: UnsafeRawBufferPointer, _ pass: (UnsafeRawBufferPointer) -> Int) -> Int {
    let count = frame.count - byteCount
    return withUnsafeTemporaryAllocation(byteCount: FloodGuard.headSize, alignment: 1) { head in
      head.copyBytes(from: frame[..<FloodGuard.headSize])
      write(length: count - FloodGuard.headSize, to: head)
      let result = pass(UnsafeRawBufferPointer(head))
      return result < 0 ? result : pass(UnsafeRawBufferPointer(rebasing: frame[FloodGuard.headSize..<count]))
    }
  }
}

// MARK: - Sending

extension LateTraceParent {
  /// Appends a frame that was made, with the header at its end, if there is one.
  static func append(
    _ frame: UnsafeRawBufferPointer,
    with identity: SpanIdentity?,
    to target: OutputBuffer
  ) {
    guard let identity else { return target.append(frame) }
    let count = frame.count + byteCount
    target.append(atMost: count) { memory in
      memory.copyMemory(from: frame)
      write(length: count - FloodGuard.headSize, to: memory)
      write(identity, to: memory, at: frame.count)
      return count
    }
  }

  /// Writes the length that the head of a frame begins with.
  private static func write(length: Int, to head: UnsafeMutableRawBufferPointer) {
    for index in 0..<3 { head[index] = UInt8(truncatingIfNeeded: length >> (16 - 8 * index)) }
  }
}
