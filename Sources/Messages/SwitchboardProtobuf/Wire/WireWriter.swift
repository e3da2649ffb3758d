// unsafe: the cursor over memory sized beforehand: each step is checked

/// A cursor over memory that a message is encoded into: the primitives of the binary format.
///
/// Its creator knows how many bytes it will write. If a value is larger, nothing is written past the end, and
/// ``hasOverflowed`` is true.
@frozen
public struct WireWriter {
  // A hot loop: raw pointers, and one comparison and one store per write. The functions in `WireWriter+Stores.swift` do
  // the work.
  //
  // `cursor <= end` until a value does not fit: then the cursor is beyond the end, where nothing fits.
  @usableFromInline var cursor: UnsafeMutableRawPointer
  @usableFromInline let end: UnsafeMutableRawPointer
  /// Stored, because the check takes a call.
  @usableFromInline let knowsSmallStrings: Bool

  @usableFromInline
  init(_ bytes: UnsafeMutableRawBufferPointer) {
    cursor = bytes.baseAddress ?? UnsafeMutableRawPointer(bitPattern: 1).unsafelyUnwrapped
    end = cursor + bytes.count
    knowsSmallStrings = SmallString.isKnown
  }

  /// Whether a value did not fit.
  @inlinable
  public var hasOverflowed: Bool { cursor > end }

  /// The number of free bytes.
  @inlinable
  public var remaining: Int { max(0, end - cursor) }

  /// Makes every further write fail.
  @inlinable
  mutating func overflow() { cursor = end + 1 }

  // MARK: Numbers

  /// Writes a varint.
  @inlinable @inline(__always)
  public mutating func varint(_ value: UInt64) { cursor = writeVarint(value, at: cursor, end: end) }

  /// Writes varints, `length` bytes in total.
  @inlinable @inline(__always)
  mutating func varints<Value>(_ values: [Value], length: Int, bits: (Value) -> UInt64) {
    // With ten more bytes than the varints need, each can be stored without checking the end.
    guard end - cursor >= length + 10 else {
      for value in values { varint(bits(value)) }
      return
    }
    let limit = cursor + length
    var next = cursor
    for value in values where next < limit {
      let number = bits(value)
      if number &- 0x80 < 0x4000 - 0x80 {
        let bytes = UInt16(truncatingIfNeeded: number & 0x7F | 0x80 | (number &>> 7) &<< 8)
        next.storeBytes(of: bytes.littleEndian, as: UInt16.self)
        next += 2
      } else {
        next = storeVarint(number, at: next)
      }
    }
    cursor = next
  }

  // MARK: Tags

  /// Writes a tag.
  @inlinable @inline(__always)
  public mutating func tag(_ tag: EncodedTag) {
    cursor = end - cursor >= 8 ? storeTag(tag, at: cursor) : writeShortTag(tag, at: cursor, end: end)
  }

  /// Writes a tag and a varint: a value, or the length of what follows.
  @inlinable @inline(__always)
  public mutating func tag(_ tag: EncodedTag, varint value: UInt64) {
    cursor = writeVarint(value, tag: tag, at: cursor, end: end)
  }

  /// Writes a tag and a string with its length.
  @inlinable @inline(__always)
  mutating func string(_ value: String, tag: EncodedTag) {
    cursor = writeString(value, tag: tag, at: cursor, end: end, knowsSmallStrings: knowsSmallStrings)
  }

  // MARK: Bytes

  /// Writes the bytes of a number, little-endian.
  @inlinable @inline(__always)
  public mutating func fixed<Bits: FixedWidthInteger & BitwiseCopyable>(_ value: Bits) {
    guard end - cursor >= MemoryLayout<Bits>.size else { return overflow() }
    cursor.storeBytes(of: value.littleEndian, as: Bits.self)
    cursor += MemoryLayout<Bits>.size
  }

  /// Writes bytes without a length.
  @inlinable
  public mutating func raw(_ bytes: [UInt8]) {
    cursor = bytes.withUnsafeBytes { writeBytes($0, at: cursor, end: end) }
  }

  // MARK: Sizes

  /// The size of a varint, in bytes.
  @inlinable @inline(__always)
  public static func size(ofVarint value: UInt64) -> Int {
    // Seven bits per byte: 9/64 is the smallest fraction that rounds every bit count correctly.
    ((64 &- (value | 1).leadingZeroBitCount) &* 9 &+ 64) &>> 6
  }

  /// The size of the tag of a field, in bytes.
  @inlinable @inline(__always)
  public static func size(ofTag number: Int32) -> Int {
    size(ofVarint: UInt64(UInt32(bitPattern: number) &<< 3))
  }
}
