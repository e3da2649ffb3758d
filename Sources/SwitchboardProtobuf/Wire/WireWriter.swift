/// A cursor over memory that a message is encoded into: the primitives of the binary format.
///
/// The memory has been sized by a ``SizeCounter``. Should a value turn out larger than it was counted, nothing
/// is written past the end: ``hasOverflowed`` says so instead.
@frozen
public struct WireWriter {
  // A hot loop: raw pointers, one comparison and one store a write. The work is done by the functions in `WireWriter+Stores.swift`.
  //
  // `cursor <= end`, until something has not fitted: then the cursor stands beyond the end, where nothing fits any more.
  @usableFromInline var cursor: UnsafeMutableRawPointer
  @usableFromInline let end: UnsafeMutableRawPointer
  /// Asked once, since to ask takes a call.
  @usableFromInline let knowsSmallStrings: Bool

  @usableFromInline
  init(_ bytes: UnsafeMutableRawBufferPointer) {
    cursor = bytes.baseAddress ?? UnsafeMutableRawPointer(bitPattern: 1).unsafelyUnwrapped
    end = cursor + bytes.count
    knowsSmallStrings = SmallString.isKnown
  }

  /// Whether something did not fit.
  @inlinable
  public var hasOverflowed: Bool { cursor > end }

  /// The number of bytes still free.
  @inlinable
  public var remaining: Int { max(0, end - cursor) }

  /// Makes nothing fit any more.
  @inlinable
  mutating func overflow() { cursor = end + 1 }

  // MARK: Numbers

  /// A base-128 number.
  @inlinable @inline(__always)
  public mutating func varint(_ value: UInt64) { cursor = writeVarint(value, at: cursor, end: end) }

  /// Base-128 numbers one after the other, which take `length` bytes.
  @inlinable @inline(__always)
  mutating func varints<Value>(_ values: [Value], length: Int, bits: (Value) -> UInt64) {
    // With room for one more than they need, each can be stored without a look at the end.
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

  /// What stands before a value: its field's number and wire type.
  @inlinable @inline(__always)
  public mutating func tag(_ tag: EncodedTag) {
    cursor = end - cursor >= 8 ? storeTag(tag, at: cursor) : writeShortTag(tag, at: cursor, end: end)
  }

  /// A tag and a base-128 number: a value, or the length of what comes next.
  @inlinable @inline(__always)
  public mutating func tag(_ tag: EncodedTag, varint value: UInt64) {
    cursor = writeVarint(value, tag: tag, at: cursor, end: end)
  }

  /// A tag, the length of a string and its UTF-8.
  @inlinable @inline(__always)
  mutating func string(_ value: String, tag: EncodedTag) {
    cursor = writeString(value, tag: tag, at: cursor, end: end, knowsSmallStrings: knowsSmallStrings)
  }

  // MARK: Bytes

  /// Four bytes, little end first.
  @inlinable @inline(__always)
  public mutating func fixed32(_ value: UInt32) {
    guard end - cursor >= 4 else { return overflow() }
    cursor.storeBytes(of: value.littleEndian, as: UInt32.self)
    cursor += 4
  }

  /// Eight bytes, little end first.
  @inlinable @inline(__always)
  public mutating func fixed64(_ value: UInt64) {
    guard end - cursor >= 8 else { return overflow() }
    cursor.storeBytes(of: value.littleEndian, as: UInt64.self)
    cursor += 8
  }

  /// Bytes as they are.
  @inlinable
  public mutating func raw(_ bytes: [UInt8]) {
    cursor = bytes.withUnsafeBytes { writeBytes($0, at: cursor, end: end) }
  }

  // MARK: Sizes

  /// How many bytes ``varint(_:)`` takes.
  @inlinable @inline(__always)
  public static func size(ofVarint value: UInt64) -> Int {
    // Seven bits a byte: 9/64 is the smallest fraction that rounds every bit count the right way.
    ((64 &- (value | 1).leadingZeroBitCount) &* 9 &+ 64) &>> 6
  }

  /// How many bytes the tag of a field takes.
  @inlinable @inline(__always)
  public static func size(ofTag number: Int32) -> Int {
    size(ofVarint: UInt64(UInt32(bitPattern: number) &<< 3))
  }
}
