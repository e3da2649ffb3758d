/// Writes messages in binary, from the last byte to the first.
///
/// That way the length of a nested message is known when it is written before it, and no pass over the message has to
/// count first. When memory is full, the encoder goes on in more of it; `BinaryEncoder+Values.swift` writes the fields.
struct BinaryEncoder {
  // A hot loop: raw pointers, and one comparison for each field. Always `start <= cursor <= end`.
  private(set) var cursor: UnsafeMutableRawPointer
  private var start: UnsafeMutableRawPointer
  private var end: UnsafeMutableRawPointer
  /// What follows the bytes from the cursor to the end.
  private var following = OutputPieces()
  let isDeterministic: Bool
  /// Stored, because the check takes a call.
  private let knowsSmallStrings: Bool

  /// What a message may take: the limit of the format.
  private static let limit = Int(Int32.max)
  /// More than the longest tag and the longest varint together, or a tag and a short string.
  private static let margin = 32
  /// Values of at least this size are not copied: the output refers to the message's own memory.
  private static let lendingSize = 4096

  /// Starts with memory of the caller, which outlives the encoder.
  init(_ memory: UnsafeMutableRawBufferPointer, options: BinaryEncodingOptions) {
    start = memory.baseAddress ?? UnsafeMutableRawPointer(bitPattern: 1).unsafelyUnwrapped
    end = start + memory.count
    cursor = end
    isDeterministic = options.deterministic
    knowsSmallStrings = SmallString.isKnown
  }

  /// The number of bytes that were written.
  @inline(__always)
  var count: Int { following.byteCount &+ (end - cursor) }

  /// Frees the memory of the encoder, which wrote in vain.
  func deallocate() { following.deallocate() }

  /// Returns what was written, with the memory of the encoder; throws if a message may not be so large.
  func finish() throws(EncodeError) -> SerializedBytes {
    guard count <= BinaryEncoder.limit else { throw EncodeError(.tooLarge) }
    return SerializedBytes(start: cursor, count: end - cursor, following: following)
  }

  // MARK: Memory

  /// Makes sure that a tag and a varint fit, and `count` more bytes.
  @inline(__always)
  mutating func reserve(_ count: Int = 0) throws(EncodeError) {
    if cursor - start < count &+ BinaryEncoder.margin { try grow(count &+ BinaryEncoder.margin) }
  }

  @inline(never)
  private mutating func grow(_ more: Int) throws(EncodeError) {
    guard count <= BinaryEncoder.limit, more <= BinaryEncoder.limit else { throw EncodeError(.tooLarge) }
    // The second piece is one that allocators have ready; what follows is as large as what was written so far.
    let capacity = max(more, count < 2048 ? 960 : min(count, 1 << 16))
    let memory = following.prepend(
      UnsafeRawBufferPointer(start: cursor, count: end - cursor),
      capacity: capacity
    )
    start = memory.baseAddress.unsafelyUnwrapped
    end = start + capacity
    cursor = end
  }

  // MARK: Primitives, whose callers have reserved

  @inline(__always)
  mutating func tag(_ tag: EncodedTag) {
    // All eight bytes are stored, the last of them at the cursor; the next write overwrites those before the tag.
    let free = UInt64(truncatingIfNeeded: 64 &- 8 &* tag.count)
    (cursor - 8).storeBytes(of: (tag.bytes &<< free).littleEndian, as: UInt64.self)
    cursor -= tag.count
  }

  @inline(__always)
  mutating func varint(_ value: UInt64) {
    if value < 0x80 {
      cursor -= 1
      cursor.storeBytes(of: UInt8(truncatingIfNeeded: value), as: UInt8.self)
    } else if value < 0x4000 {
      cursor -= 2
      let bytes = UInt16(truncatingIfNeeded: value & 0x7F | 0x80 | (value &>> 7) &<< 8)
      cursor.storeBytes(of: bytes.littleEndian, as: UInt16.self)
    } else {
      longVarint(value)
    }
  }

  @inline(never)
  private mutating func longVarint(_ value: UInt64) {
    cursor -= WireWriter.size(ofVarint: value)
    _ = storeVarint(value, at: cursor)
  }

  @inline(__always)
  mutating func fixed<Bits: FixedWidthInteger & BitwiseCopyable>(_ value: Bits) {
    cursor -= MemoryLayout<Bits>.size
    cursor.storeBytes(of: value.littleEndian, as: Bits.self)
  }

  // MARK: Bytes

  /// Writes bytes without a length, which stay where they are until the output was used.
  mutating func raw(_ bytes: UnsafeRawBufferPointer) throws(EncodeError) {
    guard bytes.count < BinaryEncoder.lendingSize else { return try lend(bytes) }
    try copy(bytes)
  }

  /// Writes bytes without a length.
  private mutating func copy(_ bytes: UnsafeRawBufferPointer) throws(EncodeError) {
    guard let source = bytes.baseAddress else { return }
    try reserve(bytes.count)
    cursor -= bytes.count
    cursor.copyMemory(from: source, byteCount: bytes.count)
  }

  @inline(never)
  private mutating func lend(_ bytes: UnsafeRawBufferPointer) throws(EncodeError) {
    guard count <= BinaryEncoder.limit else { throw EncodeError(.tooLarge) }
    _ = following.prepend(UnsafeRawBufferPointer(start: cursor, count: end - cursor))
    _ = following.prepend(bytes)
    end = cursor
  }

  /// Writes the length of what was written last, and the tag before it.
  @inline(__always)
  mutating func length(of count: Int, _ tag: EncodedTag) throws(EncodeError) {
    try reserve()
    varint(UInt64(truncatingIfNeeded: count))
    self.tag(tag)
  }

  /// Writes a field with a string, which is in a slot or an array. An empty one is left out unless it is optional.
  @inline(__always)
  mutating func string(
    _ slot: UnsafePointer<SmallString.Words>,
    _ tag: EncodedTag,
    isOptional: Bool
  ) throws(EncodeError) {
    let words = slot.pointee
    guard knowsSmallStrings, let count = SmallString.count(of: words) else {
      return try longString(slot, tag, isOptional: isOptional)
    }
    if count == 0, !isOptional { return }
    try reserve()
    // Both words, moved so that the text ends at the cursor; the next write overwrites what is before it.
    let text = UInt128(words.high) &<< 64 | UInt128(words.low)
    let moved = text &<< UInt128(truncatingIfNeeded: 128 &- 8 &* count)
    if count > 0 {
      (cursor - 16).storeBytes(of: UInt64(truncatingIfNeeded: moved).littleEndian, as: UInt64.self)
      (cursor - 8).storeBytes(of: UInt64(truncatingIfNeeded: moved &>> 64).littleEndian, as: UInt64.self)
    }
    cursor -= count + 1
    cursor.storeBytes(of: UInt8(truncatingIfNeeded: count), as: UInt8.self)
    self.tag(tag)
  }

  @inline(never)
  private mutating func longString(
    _ slot: UnsafePointer<SmallString.Words>,
    _ tag: EncodedTag,
    isOptional: Bool
  ) throws(EncodeError) {
    if let text = SmallString.longText(of: slot.pointee) {
      if text.isEmpty, !isOptional { return }
      try raw(text)
      return try length(of: text.count, tag)
    }
    // A string of another kind, as those that other languages lend: made contiguous first.
    let bytes = Array(UnsafeRawPointer(slot).assumingMemoryBound(to: String.self).pointee.utf8)
    if bytes.isEmpty, !isOptional { return }
    try bytes.span.bytes.withUnsafeBytes { bytes throws(EncodeError) in try copy(bytes) }
    try length(of: bytes.count, tag)
  }

  /// Writes `count` bytes from the first to the last.
  @inline(__always)
  mutating func forward(_ count: Int, _ body: (inout WireWriter) -> Void) throws(EncodeError) {
    try reserve(count)
    cursor -= count
    var writer = WireWriter(UnsafeMutableRawBufferPointer(start: cursor, count: count))
    body(&writer)
  }
}
