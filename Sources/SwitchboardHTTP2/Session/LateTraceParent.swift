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

  /// Whether one of the frame's fields ends there. The bytes that follow could otherwise be a part of a string, which a
  /// caller of a proxy may have chosen: without them, nghttp2 would end the connection, with the calls of others.
  static func hasField(endingAt end: Int, in frame: UnsafeRawBufferPointer) -> Bool {
    let hasPriority = frame[4] & UInt8(NGHTTP2_FLAG_PRIORITY.rawValue) != 0
    var fields = EncodedFields(bytes: frame, offset: FloodGuard.headSize + (hasPriority ? 5 : 0))
    while fields.skipIndexed(before: end), fields.skip() {}
    return fields.offset == end
  }
}

/// The fields of a block of headers, as HPACK encodes them, of which only the ends are of interest.
private struct EncodedFields {
  let bytes: UnsafeRawBufferPointer
  private(set) var offset: Int

  /// Skips fields that are in a table, at indices that fit into a byte each, as most are. Returns whether there are more
  /// fields before `end`.
  @inline(__always)
  mutating func skipIndexed(before end: Int) -> Bool {
    while offset < end {
      guard (0x80..<0xff).contains(bytes[offset]) else { return true }
      offset += 1
    }
    return false
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
  @inline(__always)
  private mutating func number(bits: Int) -> Int? {
    guard offset < bytes.count else { return nil }
    let limit = 1 << bits - 1
    let value = Int(bytes[offset]) & limit
    offset += 1
    return value < limit ? value : longNumber(from: value)
  }

  @inline(never)
  private mutating func longNumber(from limit: Int) -> Int? {
    var value = limit
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
        let identity = LateTraceParent.identity(atEndOf: frame)
      else { continue }
      let rest = UnsafeRawBufferPointer(rebasing: frame.dropLast(LateTraceParent.byteCount))
      let isRepeated = isRepeated(rest)
      guard isRepeated || LateTraceParent.hasField(endingAt: rest.count, in: frame) else { continue }
      let result = pass(bytes[start..<block.lowerBound])
      guard result >= 0 else { return result }
      lateTraceParent = identity
      let frameResult = isRepeated ? passRepeated(rest) : passShortened(rest)
      lateTraceParent = nil
      guard frameResult >= 0 else { return frameResult }
      start = block.upperBound
    }
    return pass(bytes[start...])
  }

  /// Whether a frame without its end is the one that was shortened last, but for the number of its stream. Most calls of
  /// a connection differ in nothing else.
  @inline(__always)
  private func isRepeated(_ frame: UnsafeRawBufferPointer) -> Bool {
    let count = frame.count
    guard shortenedFrame.count == count, count >= FloodGuard.headSize + 8 else { return false }
    return shortenedFrame.withUnsafeBytes { known in
      guard let known = known.baseAddress, let frame = frame.baseAddress else { return false }
      let (start, flags) = (FloodGuard.headSize, 4)
      return (known + flags).equals(frame + flags, count: 1)
        && (known + start).equals(frame + start, count: count - start)
    }
  }

  /// Passes that frame, for another stream.
  @inline(__always)
  private func passRepeated(_ frame: UnsafeRawBufferPointer) -> Int {
    shortenedFrame.withUnsafeMutableBytes { known in
      known.storeBytes(
        of: frame.loadUnaligned(fromByteOffset: 5, as: UInt32.self),
        toByteOffset: 5,
        as: UInt32.self
      )
      return pass(UnsafeRawBufferPointer(known)[...])
    }
  }

  /// Passes a frame with the length that it has without its end, and remembers it.
  @inline(never)
  private func passShortened(_ frame: UnsafeRawBufferPointer) -> Int {
    let length = UInt32(truncatingIfNeeded: frame.count - FloodGuard.headSize).bigEndian >> 8
    let count = min(frame.count, Self.largestRepeatedFrame)
    shortenedFrame = Array(frame[..<count])
    for index in 0..<3 { shortenedFrame[index] = UInt8(truncatingIfNeeded: length >> (8 * index)) }
    let result = shortenedFrame.withUnsafeBytes { pass($0[...]) }
    if count < frame.count { shortenedFrame = [] }
    return result < 0 ? result : pass(frame[count...])
  }

  /// Larger frames are not remembered, because each connection keeps one.
  private static var largestRepeatedFrame: Int { 256 }

  /// Passes the stream the header that nghttp2 did not see. Not inlined: few connections use it.
  @inline(never)
  func deliverTraceParent(to stream: Unmanaged<StreamEntry>) {
    guard let identity = lateTraceParent.take(), countHeader(LateTraceParent.listSize - 32) else { return }
    stream.withStream { $0.receiveTraceParent(identity) }
  }

  private func pass(_ bytes: Slice<UnsafeRawBufferPointer>) -> Int {
    guard !bytes.isEmpty else { return 0 }
    let bytes = UnsafeRawBufferPointer(rebasing: bytes)
    return nghttp2_session_mem_recv(raw, bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), bytes.count)
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
