/// A cursor over encoded bytes: the primitives of the binary format, every one checked against the end.
///
/// The memory belongs to the caller, who keeps it alive and unchanged for as long as the reader is
/// in use; only this module makes readers, inside the scope of such a borrow.
@frozen
public struct WireReader {
  // A hot loop: raw pointers, so that a read costs one comparison and one load. `cursor <= end` always.
  @usableFromInline var cursor: UnsafeRawPointer
  @usableFromInline var end: UnsafeRawPointer

  @inlinable
  init(_ bytes: UnsafeRawBufferPointer) {
    // An empty buffer may have no address; any pointer does when nothing is read through it.
    cursor = bytes.baseAddress ?? UnsafeRawPointer(bitPattern: 1).unsafelyUnwrapped
    end = cursor + bytes.count
  }

  /// The number of bytes left.
  @inlinable
  public var remaining: Int { end - cursor }

  /// Whether all has been read.
  @inlinable
  public var isAtEnd: Bool { cursor >= end }

  /// A base-128 number of up to ten bytes; bits past the 64th are dropped, as in every protobuf runtime.
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
    let available = remaining
    if available >= 2 {
      let second = UInt64(cursor.load(fromByteOffset: 1, as: UInt8.self))
      if second < 0x80 {
        let first = UInt64(cursor.load(as: UInt8.self))
        cursor += 2
        return first & 0x7F | second &<< 7
      }
    }
    // Ten bytes are the most that a varint takes; further ones cannot make it end.
    let limit = min(available, 10)
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

  /// Four bytes, little end first.
  @inlinable
  public mutating func fixed32() throws(DecodeError) -> UInt32 {
    guard remaining >= 4 else { throw DecodeError(.truncated) }
    defer { cursor += 4 }
    return UInt32(littleEndian: cursor.loadUnaligned(as: UInt32.self))
  }

  /// Eight bytes, little end first.
  @inlinable
  public mutating func fixed64() throws(DecodeError) -> UInt64 {
    guard remaining >= 8 else { throw DecodeError(.truncated) }
    defer { cursor += 8 }
    return UInt64(littleEndian: cursor.loadUnaligned(as: UInt64.self))
  }

  /// A length that the rest of the input can hold.
  @inlinable @inline(__always)
  public mutating func length() throws(DecodeError) -> Int {
    let length = try varint()
    guard length <= UInt64(remaining) else { throw DecodeError(.truncated) }
    return Int(truncatingIfNeeded: length)
  }

  /// A length and that many bytes, in place.
  @inlinable @inline(__always)
  mutating func lengthDelimited() throws(DecodeError) -> UnsafeRawBufferPointer {
    let count = try length()
    defer { cursor += count }
    return UnsafeRawBufferPointer(start: cursor, count: count)
  }

  /// Passes over `count` bytes.
  @inlinable
  public mutating func skip(_ count: Int) throws(DecodeError) {
    guard count >= 0, count <= remaining else { throw DecodeError(.truncated) }
    cursor += count
  }

  /// A field's number and wire type.
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

  /// Five bytes are the most that a tag takes, and all that they say must fit in 32 bits.
  @usableFromInline
  mutating func longTag() throws(DecodeError) -> Tag {
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
