/// Writes messages in binary, from the last byte to the first.
///
/// That way the length of a nested message is known when it is written before it, and no pass over the message has to
/// count first. When memory is full, the encoder goes on in more of it; `BinaryEncoder+Values.swift` writes the fields.
///
/// Functions that write take the ``ReverseCursor`` and return it. Each makes sure first that there is room.
struct BinaryEncoder {
  // The memory that the cursor is in. Always `start <= cursor <= end`; below `low` is less than a margin.
  private var start: UnsafeMutableRawPointer
  private var low: UnsafeMutableRawPointer
  private var end: UnsafeMutableRawPointer
  /// What follows the bytes from the cursor to the end.
  private var following = OutputPieces()
  /// What went wrong first. The rest is then written in vain, so that the many functions that write need not throw.
  private var failure: EncodeError?
  let isDeterministic: Bool
  /// Stored, because the check takes a call.
  private let knowsSmallStrings: Bool
  /// Where the values of extensions are written, which are visited.
  var cursor: ReverseCursor

  /// What a message may take: the limit of the format.
  private static let limit = Int(Int32.max)
  /// Values of at least this size are not copied: the output refers to the message's own memory.
  private static let lendingSize = 4096

  /// Starts with memory of the caller, which outlives the encoder and has room for a margin.
  init(_ memory: UnsafeMutableRawBufferPointer, options: BinaryEncodingOptions) {
    start = memory.baseAddress.unsafelyUnwrapped
    low = start + ReverseCursor.margin
    end = start + memory.count
    cursor = ReverseCursor(end)
    isDeterministic = options.deterministic
    knowsSmallStrings = SmallString.isKnown
  }

  /// Writes a message; throws if a message may not be so large. The result has the memory of the encoder.
  mutating func message(_ message: ObjectSlots) throws(EncodeError) -> SerializedBytes {
    let cursor = fields(of: message, cursor)
    if count(cursor) > BinaryEncoder.limit { fail(EncodeError(.tooLarge)) }
    if let failure {
      following.deallocate()
      throw failure
    }
    return SerializedBytes(start: cursor.address, count: end - cursor.address, following: following)
  }

  mutating func fail(_ error: EncodeError) {
    if failure == nil { failure = error }
  }

  /// The number of bytes that were written.
  @inline(__always)
  func count(_ cursor: ReverseCursor) -> Int { following.byteCount &+ (end - cursor.address) }

  // MARK: Memory

  /// Makes sure that there is room for a margin.
  @inline(__always)
  mutating func reserve(_ cursor: inout ReverseCursor) {
    if cursor.address < low { cursor = grow(cursor, 0) }
  }

  /// Makes sure that there is room for `count` bytes and a margin.
  @inline(__always)
  private mutating func reserve(_ count: Int, _ cursor: inout ReverseCursor) {
    if cursor.address - low < count { cursor = grow(cursor, count) }
  }

  @inline(never)
  private mutating func grow(_ cursor: ReverseCursor, _ more: Int) -> ReverseCursor {
    let count = count(cursor)
    if count > BinaryEncoder.limit {
      // Memory for what is written in vain is freed each time.
      fail(EncodeError(.tooLarge))
      following.deallocate()
      following = OutputPieces()
      end = cursor.address
    }
    // The second piece is one that allocators have ready; what follows is as large as what was written so far.
    let capacity = max(more + 2 * ReverseCursor.margin, count < 2048 ? 960 : min(count, 1 << 16))
    let piece = UnsafeRawBufferPointer(start: cursor.address, count: end - cursor.address)
    let memory = following.prepend(piece, capacity: capacity)
    start = memory.baseAddress.unsafelyUnwrapped
    low = start + ReverseCursor.margin
    end = start + capacity
    return ReverseCursor(end)
  }

  // MARK: Bytes

  /// Writes the length of what was written last, and the tag before it.
  @inline(__always)
  mutating func length(_ count: Int, _ tag: EncodedTag, _ cursor: inout ReverseCursor) {
    reserve(&cursor)
    cursor.varint(UInt64(truncatingIfNeeded: count))
    cursor.tag(tag)
  }

  /// Writes bytes without a length, which stay where they are until the output was used.
  @inline(never)
  mutating func raw(_ bytes: UnsafeRawBufferPointer, _ cursor: ReverseCursor) -> ReverseCursor {
    guard bytes.count < BinaryEncoder.lendingSize else { return lend(bytes, cursor) }
    return copy(bytes, cursor)
  }

  private mutating func copy(_ bytes: UnsafeRawBufferPointer, _ cursor: ReverseCursor) -> ReverseCursor {
    var cursor = cursor
    reserve(bytes.count, &cursor)
    cursor.copy(bytes)
    return cursor
  }

  @inline(never)
  private mutating func lend(_ bytes: UnsafeRawBufferPointer, _ cursor: ReverseCursor) -> ReverseCursor {
    // What is too large is found at the end; the pieces are small.
    _ = following.prepend(UnsafeRawBufferPointer(start: cursor.address, count: end - cursor.address))
    _ = following.prepend(bytes)
    end = cursor.address
    return cursor
  }

  /// Writes a field with a string, which is in a slot or an array. An empty one is left out unless it is optional. There
  /// is room for a margin.
  @inline(__always)
  mutating func string(
    _ slot: UnsafePointer<SmallString.Words>,
    _ tag: EncodedTag,
    isOptional: Bool,
    _ cursor: inout ReverseCursor
  ) {
    let words = slot.pointee
    guard knowsSmallStrings, let count = SmallString.count(of: words) else {
      cursor = longString(slot, tag, isOptional: isOptional, cursor)
      return
    }
    if count == 0, !isOptional { return }
    cursor.small(words, count: count)
    cursor.tag(tag)
  }

  @inline(never)
  private mutating func longString(
    _ slot: UnsafePointer<SmallString.Words>,
    _ tag: EncodedTag,
    isOptional: Bool,
    _ cursor: ReverseCursor
  ) -> ReverseCursor {
    var cursor = cursor
    let count: Int
    if let text = SmallString.longText(of: slot.pointee), let start = text.baseAddress {
      count = text.count
      if count >= 16, count <= ReverseCursor.shortCount {
        cursor.short(start, count: count)
        cursor.fixed(UInt8(truncatingIfNeeded: count))
        cursor.tag(tag)
        return cursor
      }
      cursor = raw(text, cursor)
    } else {
      // A string of another kind, as those that other languages lend: made contiguous first.
      let bytes = Array(UnsafeRawPointer(slot).assumingMemoryBound(to: String.self).pointee.utf8)
      count = bytes.count
      cursor = bytes.withUnsafeBytes { bytes in copy(bytes, cursor) }
    }
    if count > 0 || isOptional { length(count, tag, &cursor) }
    return cursor
  }

  /// Writes `count` bytes from the first to the last.
  @inline(__always)
  mutating func forward(_ count: Int, _ body: (inout WireWriter) -> Void) {
    var next = cursor
    reserve(count, &next)
    next.move(count)
    cursor = next
    var writer = WireWriter(UnsafeMutableRawBufferPointer(start: next.address, count: count))
    body(&writer)
  }
}
