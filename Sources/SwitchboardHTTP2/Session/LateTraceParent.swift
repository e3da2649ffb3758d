import CNghttp2
import SwitchboardCall

/// The header `traceparent`, appended to a block of headers that nghttp2 has encoded, as a literal that neither side indexes.
///
/// nghttp2 would apply Huffman coding to it. A value that differs in every call costs most of what a small header costs that
/// way, on both sides, to save some bytes. A server that wants it takes it from the end of the block before nghttp2 sees it.
enum LateTraceParent {
  /// Its size, as HTTP/2 counts it.
  static let listSize = 11 + TraceParentText.byteCount + 32

  /// A literal without indexing, whose name is no entry of a table: the name and the length of the value.
  private static let prefix: StaticString = "\u{00}\u{0b}traceparent\u{37}"

  /// Writes it into memory of `byteCount` bytes from `start`.
  static func write(_ text: TraceParentText, to memory: UnsafeMutableRawBufferPointer, at start: Int) {
    let name = UnsafeRawBufferPointer(start: prefix.utf8Start, count: prefix.utf8CodeUnitCount)
    UnsafeMutableRawBufferPointer(rebasing: memory[start...]).copyMemory(from: name)
    func store(_ word: UInt64, at offset: Int) {
      memory.storeBytes(of: word.bigEndian, toByteOffset: start + name.count + offset, as: UInt64.self)
    }
    for index in 0..<6 { store(text.words[index], at: 8 * index) }
    // Seven bytes remain, so the last word overlaps the one before.
    store(text.words[5] << 56 | text.words[6] >> 8, at: 47)
  }

  static let byteCount = prefix.utf8CodeUnitCount + TraceParentText.byteCount
}

extension TraceParentText {
  /// Returns `nil` if the text has another length.
  package init?(_ text: UnsafeBufferPointer<UInt8>) {
    guard text.count == Self.byteCount else { return nil }
    let bytes = UnsafeRawBufferPointer(text)
    func word(_ offset: Int) -> UInt64 {
      UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
    }
    self.init([word(0), word(8), word(16), word(24), word(32), word(40), word(47) << 8])
  }
}

extension HPACKHeaders {
  mutating func add(traceParent: TraceParentText) {
    append(name: "traceparent".utf8, value: traceParent.bytes)
  }
}

// MARK: - Receiving

extension LateTraceParent {
  typealias Bytes = UnsafeBufferPointer<UInt8>

  /// The value at the end of a frame that ends with the header as `write` writes it; `nil` for all others, and if nghttp2
  /// would not accept the value.
  static func value(atEndOf frame: UnsafeRawBufferPointer) -> Bytes? {
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
    for index in 0..<6 where !isVisible(word(frame, nameEnd + 8 * index)) { return nil }
    guard isVisible(word(frame, frame.count - 8)), hasField(endingAt: start, in: frame) else { return nil }
    return UnsafeRawBufferPointer(rebasing: frame[nameEnd...]).bindMemory(to: UInt8.self)
  }

  /// Whether all bytes are visible characters of ASCII. Each sum has its highest bit where a byte is not below a bound.
  private static func isVisible(_ word: UInt64) -> Bool {
    let low = word & 0x7f7f_7f7f_7f7f_7f7f
    let isWithin = (low &+ 0x5f5f_5f5f_5f5f_5f5f) & ~(low &+ 0x0101_0101_0101_0101) & ~word
    return isWithin & 0x8080_8080_8080_8080 == 0x8080_8080_8080_8080
  }

  /// Whether one of the frame's fields ends there. The bytes that follow could otherwise be a part of a string, which a
  /// caller of a proxy may have chosen: without them, nghttp2 would end the connection, with the calls of others.
  private static func hasField(endingAt end: Int, in frame: UnsafeRawBufferPointer) -> Bool {
    let hasPriority = frame[4] & UInt8(NGHTTP2_FLAG_PRIORITY.rawValue) != 0
    var fields = EncodedFields(bytes: frame, offset: FloodGuard.headSize + (hasPriority ? 5 : 0))
    while fields.offset < end, fields.skipIndexed(before: end) || fields.skip() {}
    return fields.offset == end
  }
}

/// The fields of a block of headers, as HPACK encodes them, of which only the ends are of interest.
private struct EncodedFields {
  let bytes: UnsafeRawBufferPointer
  private(set) var offset: Int

  /// Skips fields that are in a table, at indices that fit into a byte each, as most are. Returns `false` if none is.
  @inline(__always)
  mutating func skipIndexed(before end: Int) -> Bool {
    let start = offset
    var next = start
    while next < end, (0x80..<0xff).contains(bytes[next]) { next += 1 }
    offset = next
    return next > start
  }

  /// Skips a field, or a change of the table's size. Returns `false` if the bytes are neither.
  mutating func skip() -> Bool {
    guard offset < bytes.count else { return false }
    let first = bytes[offset]
    if first & 0x80 != 0 { return number(bits: 7) != nil }
    if first & 0xe0 == 0x20 { return number(bits: 5) != nil }
    guard let name = number(bits: first & 0x40 != 0 ? 6 : 4) else { return false }
    return (name > 0 || skipString()) && skipString()
  }

  private mutating func skipString() -> Bool {
    guard let count = number(bits: 7), count <= bytes.count - offset else { return false }
    offset += count
    return true
  }

  /// A number in the lowest bits of a byte or, if all of these are set, also in the bytes that follow.
  private mutating func number(bits: Int) -> Int? {
    guard offset < bytes.count else { return nil }
    let limit = 1 << bits - 1
    var value = Int(bytes[offset]) & limit
    offset += 1
    guard value == limit else { return value }
    // No number within a frame takes more bytes.
    for shift in [0, 7, 14, 21] {
      guard offset < bytes.count else { return nil }
      let byte = Int(bytes[offset])
      offset += 1
      value += (byte & 0x7f) << shift
      if byte & 0x80 == 0 { return value }
    }
    return nil
  }
}

extension Session {
  /// Whether streams want the header `traceparent` of requests. Then nghttp2 does not see it, if it ends them.
  var takesTraceParents: Bool {
    get { watch.listsBlocks }
    set { watch.listsBlocks = newValue }
  }

  /// Passes bytes to nghttp2, but not the header `traceparent` at the end of the frames in `blocks`. Returns a negative
  /// error, if there is one.
  func pass(_ bytes: UnsafeRawBufferPointer, _ blocks: [Range<Int>]) -> Int {
    var start = 0
    for block in blocks where block.upperBound <= bytes.count {
      let frame = UnsafeRawBufferPointer(rebasing: bytes[block])
      guard frame.count - FloodGuard.headSize <= frameLimit,
        let value = LateTraceParent.value(atEndOf: frame)
      else { continue }
      let result = pass(bytes[start..<block.lowerBound])
      guard result >= 0 else { return result }
      lateTraceParent = value
      let frameResult = passShortened(
        UnsafeRawBufferPointer(rebasing: frame.dropLast(LateTraceParent.byteCount))
      )
      lateTraceParent = nil
      guard frameResult >= 0 else { return frameResult }
      start = block.upperBound
    }
    return pass(bytes[start...])
  }

  /// Passes a frame with the length that it has without its end.
  private func passShortened(_ frame: UnsafeRawBufferPointer) -> Int {
    let length = UInt32(truncatingIfNeeded: frame.count - FloodGuard.headSize).bigEndian >> 8
    // Most are small, and copied whole.
    var start: InlineArray<64, UInt8> = .init(repeating: 0)
    let count = min(frame.count, start.count)
    var span = start.mutableSpan
    let result = span.withUnsafeMutableBytes { start in
      start.copyMemory(from: UnsafeRawBufferPointer(rebasing: frame[..<count]))
      for index in 0..<3 { start[index] = UInt8(truncatingIfNeeded: length >> (8 * index)) }
      return pass(UnsafeRawBufferPointer(rebasing: start[..<count])[...])
    }
    return result < 0 ? result : pass(frame[count...])
  }

  /// Passes the stream the header that nghttp2 did not see. Not inlined: few connections use it.
  @inline(never)
  func deliverTraceParent(to stream: Unmanaged<StreamEntry>) {
    guard let value = lateTraceParent.take(), let text = TraceParentText(value),
      countHeader(LateTraceParent.listSize - 32)
    else { return }
    stream.withStream { $0.receiveTraceParent(text) }
  }

  private func pass(_ bytes: Slice<UnsafeRawBufferPointer>) -> Int {
    guard !bytes.isEmpty else { return 0 }
    let bytes = UnsafeRawBufferPointer(rebasing: bytes)
    return nghttp2_session_mem_recv(raw, bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), bytes.count)
  }

  /// Appends what was sent; if it is the headers of a request, with the header that was announced for them.
  func appendWithTraceParent(_ frame: UnsafeRawBufferPointer, to target: OutputBuffer) {
    guard let text = traceParent(of: frame) else { return target.append(frame) }
    let count = frame.count + LateTraceParent.byteCount
    target.append(atMost: count) { memory in
      memory.copyMemory(from: frame)
      for index in 0..<3 {
        memory[index] = UInt8(truncatingIfNeeded: (count - FloodGuard.headSize) >> (16 - 8 * index))
      }
      LateTraceParent.write(text, to: memory, at: frame.count)
      return count
    }
  }

  private func traceParent(of frame: UnsafeRawBufferPointer) -> TraceParentText? {
    let wanted = UInt8(NGHTTP2_FLAG_END_HEADERS.rawValue)
    guard frame.count > FloodGuard.headSize, UInt32(frame[3]) == NGHTTP2_HEADERS.rawValue,
      frame[4] & (wanted | UInt8(NGHTTP2_FLAG_PADDED.rawValue)) == wanted
    else { return nil }
    let id = UInt32(bigEndian: frame.loadUnaligned(fromByteOffset: 5, as: UInt32.self)) & 0x7fff_ffff
    guard let data = nghttp2_session_get_stream_user_data(raw, Int32(id)) else { return nil }
    return Unmanaged<StreamEntry>.fromOpaque(data).withStream { $0.takeTraceParent() }
  }
}
