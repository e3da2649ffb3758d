/// A cursor over memory that a message is encoded into: the primitives of the binary format.
///
/// The memory has been sized by a ``SizeCounter``. Should a value turn out larger than it was counted, nothing
/// is written past the end: ``hasOverflowed`` says so instead.
@frozen
public struct WireWriter {
  // A hot loop: raw pointers, one comparison and one store a write. `cursor <= end` always.
  @usableFromInline var cursor: UnsafeMutableRawPointer
  @usableFromInline let end: UnsafeMutableRawPointer

  /// Whether something did not fit.
  public internal(set) var hasOverflowed = false

  @inlinable
  init(_ bytes: UnsafeMutableRawBufferPointer) {
    cursor = bytes.baseAddress ?? UnsafeMutableRawPointer(bitPattern: 1).unsafelyUnwrapped
    end = cursor + bytes.count
  }

  /// The number of bytes still free.
  @inlinable
  public var remaining: Int { end - cursor }

  @usableFromInline
  mutating func overflow() { hasOverflowed = true }

  /// A base-128 number.
  @inlinable @inline(__always)
  public mutating func varint(_ value: UInt64) {
    if value < 0x80, cursor < end {
      cursor.storeBytes(of: UInt8(truncatingIfNeeded: value), as: UInt8.self)
      cursor += 1
    } else {
      longVarint(value)
    }
  }

  @usableFromInline
  mutating func longVarint(_ value: UInt64) {
    if value < 0x4000, remaining >= 2 {
      let bytes = UInt16(truncatingIfNeeded: value & 0x7F | 0x80 | (value &>> 7) &<< 8)
      cursor.storeBytes(of: bytes.littleEndian, as: UInt16.self)
      cursor += 2
      return
    }
    // Ten bytes are the most that it takes: only near the end does the exact number matter.
    guard remaining >= 10 || remaining >= WireWriter.size(ofVarint: value) else { return overflow() }
    cursor = WireWriter.store(value, at: cursor)
  }

  /// Stores a base-128 number where there is room. Returns the place after it.
  @inlinable @inline(__always)
  static func store(_ value: UInt64, at address: UnsafeMutableRawPointer) -> UnsafeMutableRawPointer {
    var rest = value
    var next = address
    while rest >= 0x80 {
      next.storeBytes(of: UInt8(truncatingIfNeeded: rest) | 0x80, as: UInt8.self)
      next += 1
      rest &>>= 7
    }
    next.storeBytes(of: UInt8(truncatingIfNeeded: rest), as: UInt8.self)
    return next + 1
  }

  /// Base-128 numbers one after the other, which take `length` bytes.
  @inlinable @inline(__always)
  mutating func varints<Value>(_ values: [Value], length: Int, bits: (Value) -> UInt64) {
    // With room for one more than they need, each can be stored without a look at the end.
    guard remaining >= length, remaining - length >= 10 else {
      for value in values { varint(bits(value)) }
      return
    }
    let limit = cursor + length
    var next = cursor
    for value in values where next < limit { next = WireWriter.store(bits(value), at: next) }
    cursor = next
  }

  /// Four bytes, little end first.
  @inlinable
  public mutating func fixed32(_ value: UInt32) {
    guard remaining >= 4 else { return overflow() }
    cursor.storeBytes(of: value.littleEndian, as: UInt32.self)
    cursor += 4
  }

  /// Eight bytes, little end first.
  @inlinable
  public mutating func fixed64(_ value: UInt64) {
    guard remaining >= 8 else { return overflow() }
    cursor.storeBytes(of: value.littleEndian, as: UInt64.self)
    cursor += 8
  }

  /// Bytes as they are.
  @inlinable @inline(__always)
  mutating func raw(_ bytes: UnsafeRawBufferPointer) {
    guard let source = bytes.baseAddress else { return }
    let count = bytes.count
    guard remaining >= count else { return overflow() }
    // Short strings are the most common values of all: two loads and stores that overlap take less than a call.
    if count > 16 || count < 4 {
      cursor.copyMemory(from: source, byteCount: count)
    } else if count >= 8 {
      let last = source.loadUnaligned(fromByteOffset: count - 8, as: UInt64.self)
      cursor.storeBytes(of: source.loadUnaligned(as: UInt64.self), as: UInt64.self)
      cursor.storeBytes(of: last, toByteOffset: count - 8, as: UInt64.self)
    } else {
      let last = source.loadUnaligned(fromByteOffset: count - 4, as: UInt32.self)
      cursor.storeBytes(of: source.loadUnaligned(as: UInt32.self), as: UInt32.self)
      cursor.storeBytes(of: last, toByteOffset: count - 4, as: UInt32.self)
    }
    cursor += count
  }

  /// Bytes as they are.
  @inlinable
  public mutating func raw(_ bytes: [UInt8]) {
    bytes.withUnsafeBytes { raw($0) }
  }

  /// What stands before a value: its field's number and wire type.
  @inlinable @inline(__always)
  public mutating func tag(_ tag: EncodedTag) {
    guard remaining >= 8 else { return shortTag(tag) }
    cursor = WireWriter.store(tag, at: cursor)
  }

  /// Stores a tag where there is room for eight bytes; what follows overwrites those that it does not take.
  @inlinable @inline(__always)
  static func store(_ tag: EncodedTag, at address: UnsafeMutableRawPointer) -> UnsafeMutableRawPointer {
    address.storeBytes(of: tag.bytes.littleEndian, as: UInt64.self)
    return address + tag.count
  }

  @usableFromInline
  mutating func shortTag(_ tag: EncodedTag) {
    guard remaining >= tag.count else { return overflow() }
    withUnsafeBytes(of: tag.bytes.littleEndian) {
      raw(UnsafeRawBufferPointer(rebasing: $0.prefix(tag.count)))
    }
  }

  /// A tag and a base-128 number: a value, or the length of what comes next.
  // One load and one store of the cursor for both. Each is a step that the next one waits for.
  @inlinable @inline(__always)
  public mutating func tag(_ tag: EncodedTag, varint value: UInt64) {
    guard remaining >= 18 else {
      shortTag(tag)
      return varint(value)
    }
    cursor = WireWriter.store(value, at: WireWriter.store(tag, at: cursor))
  }

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
