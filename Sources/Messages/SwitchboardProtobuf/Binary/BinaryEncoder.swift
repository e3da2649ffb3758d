// unsafe: the cursor over memory: each field reserves what it writes; long values are lent

/// Writes messages in binary, from the last byte to the first.
///
/// That way, the length of a nested message is known by the time it must be written, and no extra pass counts it. When
/// the memory is full, the encoder continues in another piece. `BinaryEncoder+Values.swift` writes the fields.
///
/// Functions that write take the ``ReverseCursor`` and return it. Each reserves room first.
struct BinaryEncoder {
  // The memory that the cursor is in. Always `start <= cursor <= end`; below `low` is less than a margin.
  private var start: UnsafeMutableRawPointer
  private var low: UnsafeMutableRawPointer
  private var end: UnsafeMutableRawPointer
  /// The finished pieces that follow the bytes from the cursor to the end.
  private var following = OutputPieces()
  /// The first error. Encoding then continues and the result is discarded, so that the many functions that write need not throw.
  private var failure: EncodeError?
  let isDeterministic: Bool
  /// Stored, because the check takes a call.
  private let knowsSmallStrings: Bool
  /// The cursor for the values of extensions, which are written by visiting them.
  var cursor: ReverseCursor

  /// The largest size of a message, which is the limit of the format.
  private static let limit = Int(Int32.max)
  /// Values of at least this size are not copied: the output refers to the message's own memory.
  private static let lendingSize = 4096

  /// Starts in the caller's memory, which must outlive the encoder and have room for a margin.
  init(_ memory: UnsafeMutableRawBufferPointer, options: BinaryEncodingOptions) {
    start = memory.baseAddress.unsafelyUnwrapped
    low = start + ReverseCursor.margin
    end = start + memory.count
    cursor = ReverseCursor(end)
    isDeterministic = options.deterministic
    knowsSmallStrings = SmallString.isKnown
  }

  /// Writes a message. Throws if it is too large. The result takes over the encoder's memory.
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
      // The message is too large: its output is discarded each time.
      fail(EncodeError(.tooLarge))
      following.deallocate()
      following = OutputPieces()
      end = cursor.address
    }
    // The second piece has a size that allocators have ready. Each further piece is as large as the output so far.
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
    // The size is checked at the end, because pieces are small.
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
      // A string of another kind, such as one bridged from another language, is made contiguous first.
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
