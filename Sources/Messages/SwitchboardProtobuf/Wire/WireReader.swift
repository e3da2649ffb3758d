// unsafe: the cursor over bytes: each step is checked against the end

/// A cursor over encoded bytes: the primitives of the binary format, each checked against the end.
///
/// The caller owns the memory and keeps it alive and unchanged while the reader is in use; only this module creates
/// readers, within the scope of such a borrow.
@frozen
public struct WireReader {
  // A hot loop: raw pointers, so that a read takes one comparison and one load. Always `cursor <= end`.
  @usableFromInline var cursor: UnsafeRawPointer
  @usableFromInline var end: UnsafeRawPointer
  /// The end of the memory: what is read up to ``end`` may be part of more.
  @usableFromInline let limit: UnsafeRawPointer
  /// Stored, because each use of a global takes a call.
  @usableFromInline let knowsSmallStrings: Bool
  @usableFromInline let classes: ObjectClasses

  @usableFromInline
  init(_ bytes: UnsafeRawBufferPointer) {
    // An empty buffer may have no address; any pointer will do, because nothing is read through it.
    cursor = bytes.baseAddress ?? UnsafeRawPointer(bitPattern: 1).unsafelyUnwrapped
    end = cursor + bytes.count
    limit = end
    knowsSmallStrings = SmallString.isKnown
    classes = ObjectClasses.known
  }

  /// The number of bytes left.
  @inlinable
  public var remaining: Int { end - cursor }

  /// Whether all bytes were read.
  @inlinable
  public var isAtEnd: Bool { cursor >= end }

  /// Reads a varint of up to ten bytes; bits beyond the 64th are dropped, as in every protobuf runtime.
  @inlinable @inline(__always)
  public mutating func varint() throws(DecodeError) -> UInt64 {
    if cursor < end {
      let first = cursor.load(as: UInt8.self)
      if first < 0x80 {
        cursor += 1
        return UInt64(first)
      }
    }
    return try longVarint()
  }

  @usableFromInline
  mutating func longVarint() throws(DecodeError) -> UInt64 {
    guard limit - cursor >= 10 else { return try longVarint(upTo: remaining) }
    let word = UInt64(littleEndian: cursor.loadUnaligned(as: UInt64.self))
    // Marks the bytes without a continuation bit; the lowest of them ends the varint.
    let ends = ~word & 0x8080_8080_8080_8080
    guard ends != 0 else { return try longVarint(upTo: min(remaining, 10)) }
    let count = (ends.trailingZeroBitCount &+ 1) &>> 3
    guard count <= remaining else { throw DecodeError(.truncated) }
    cursor += count
    // Joins the groups of seven bits in pairs, the pairs in fours, and those in eights.
    var bits = word & (ends ^ (ends &- 1)) & 0x7F7F_7F7F_7F7F_7F7F
    bits = bits & 0x007F_007F_007F_007F | (bits & 0x7F00_7F00_7F00_7F00) &>> 1
    bits = bits & 0x0000_3FFF_0000_3FFF | (bits & 0x3FFF_0000_3FFF_0000) &>> 2
    return bits & 0x0FFF_FFFF | (bits & 0x0FFF_FFFF_0000_0000) &>> 4
  }

  /// Reads a varint from the next `limit` bytes, at most ten.
  private mutating func longVarint(upTo limit: Int) throws(DecodeError) -> UInt64 {
    var result: UInt64 = 0
    for index in 0..<limit {
      let byte = cursor.load(fromByteOffset: index, as: UInt8.self)
      result |= UInt64(byte & 0x7F) &<< UInt64(7 &* index)
      if byte < 0x80 {
        cursor += index + 1
        return result
      }
    }
    throw DecodeError(limit == 10 ? .malformedVarint : .truncated)
  }

  /// Reads the bytes of a number, little-endian.
  @inlinable @inline(__always)
  public mutating func fixed<Bits: FixedWidthInteger & BitwiseCopyable>(
    _ type: Bits.Type = Bits.self
  ) throws(DecodeError) -> Bits {
    guard remaining >= MemoryLayout<Bits>.size else { throw DecodeError(.truncated) }
    defer { cursor += MemoryLayout<Bits>.size }
    return Bits(littleEndian: cursor.loadUnaligned(as: Bits.self))
  }

  /// Reads a length; throws if it exceeds the rest of the input.
  @inlinable @inline(__always)
  public mutating func length() throws(DecodeError) -> Int {
    let length = try varint()
    guard length <= UInt64(remaining) else { throw DecodeError(.truncated) }
    return Int(truncatingIfNeeded: length)
  }

  /// Reads a length and returns a buffer of that many bytes, without copying them.
  @inlinable @inline(__always)
  mutating func lengthDelimited() throws(DecodeError) -> UnsafeRawBufferPointer {
    let count = try length()
    defer { cursor += count }
    return UnsafeRawBufferPointer(start: cursor, count: count)
  }

  /// Reads a length and a copy of that many bytes.
  mutating func bytes() throws(DecodeError) -> [UInt8] {
    let source = try lengthDelimited()
    guard classes.bytes.isKnown, let start = source.baseAddress, !source.isEmpty else {
      return Array(source)
    }
    let array = ArrayMemory(classes.bytes, of: UInt8.self, capacity: source.count, classes)
    UnsafeMutableRawPointer(array.address(as: UInt8.self)).copyMemory(from: start, byteCount: source.count)
    array.setCount(source.count)
    return array.array(of: UInt8.self)
  }

  /// Skips `count` bytes.
  @inlinable
  public mutating func skip(_ count: Int) throws(DecodeError) {
    guard count >= 0, count <= remaining else { throw DecodeError(.truncated) }
    cursor += count
  }

  /// Reads a tag.
  @inlinable @inline(__always)
  public mutating func tag() throws(DecodeError) -> Tag {
    if cursor < end {
      let first = cursor.load(as: UInt8.self)
      if first < 0x80 {
        cursor += 1
        guard let tag = Tag(UInt32(first)) else { throw DecodeError(.invalidTag) }
        return tag
      }
    }
    return try longTag()
  }

  /// Skips the given tag if it comes next in its shortest form and takes at most two bytes.
  @inlinable @inline(__always)
  mutating func skipsTag(_ tag: Tag) -> Bool {
    if tag.bits < 0x80 {
      guard cursor < end, cursor.load(as: UInt8.self) == UInt8(truncatingIfNeeded: tag.bits) else {
        return false
      }
      cursor += 1
      return true
    }
    guard tag.bits < 0x4000, remaining >= 2 else { return false }
    let bytes = UInt16(truncatingIfNeeded: tag.bits & 0x7F | 0x80 | (tag.bits &>> 7) &<< 8)
    guard UInt16(littleEndian: cursor.loadUnaligned(as: UInt16.self)) == bytes else { return false }
    cursor += 2
    return true
  }

  /// Skips a length of at most two bytes and that many bytes; false if it does not come next.
  @inline(__always)
  mutating func skipsShortValue() -> Bool {
    guard remaining >= 2 else { return false }
    var length = Int(cursor.load(as: UInt8.self))
    var start = cursor + 1
    if length >= 0x80 {
      let second = Int(start.load(as: UInt8.self))
      guard second < 0x80 else { return false }
      length = length & 0x7F | second &<< 7
      start += 1
    }
    guard end - start >= length else { return false }
    cursor = start + length
    return true
  }

  /// Reads a tag of up to five bytes, which must fit 32 bits.
  @usableFromInline
  mutating func longTag() throws(DecodeError) -> Tag {
    if remaining >= 2 {
      let second = UInt32(cursor.load(fromByteOffset: 1, as: UInt8.self))
      if second < 0x80 {
        let first = UInt32(cursor.load(as: UInt8.self))
        cursor += 2
        guard let tag = Tag(first & 0x7F | second &<< 7) else { throw DecodeError(.invalidTag) }
        return tag
      }
    }
    let limit = min(remaining, 5)
    var bits: UInt64 = 0
    for index in 0..<limit {
      let byte = cursor.load(fromByteOffset: index, as: UInt8.self)
      bits |= UInt64(byte & 0x7F) &<< UInt64(7 &* index)
      guard byte < 0x80 else { continue }
      cursor += index + 1
      guard let bits = UInt32(exactly: bits), let tag = Tag(bits) else { throw DecodeError(.invalidTag) }
      return tag
    }
    throw DecodeError(limit == 5 ? .invalidTag : .truncated)
  }
}
