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
  @inlinable
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
    guard remaining >= WireWriter.size(ofVarint: value) else { return overflow() }
    var rest = value
    while rest >= 0x80 {
      cursor.storeBytes(of: UInt8(truncatingIfNeeded: rest) | 0x80, as: UInt8.self)
      cursor += 1
      rest &>>= 7
    }
    cursor.storeBytes(of: UInt8(truncatingIfNeeded: rest), as: UInt8.self)
    cursor += 1
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
  @inlinable
  mutating func raw(_ bytes: UnsafeRawBufferPointer) {
    guard let source = bytes.baseAddress else { return }
    guard remaining >= bytes.count else { return overflow() }
    cursor.copyMemory(from: source, byteCount: bytes.count)
    cursor += bytes.count
  }

  /// Bytes as they are.
  @inlinable
  public mutating func raw(_ bytes: [UInt8]) {
    bytes.withUnsafeBytes { raw($0) }
  }

  /// A field's number and wire type.
  @inlinable
  public mutating func tag(_ number: Int32, _ type: WireType) {
    varint(UInt64(UInt32(bitPattern: number) &<< 3 | UInt32(type.rawValue)))
  }

  /// How many bytes ``varint(_:)`` takes.
  @inlinable
  public static func size(ofVarint value: UInt64) -> Int {
    // Seven bits a byte: 9/64 is the smallest fraction that rounds every bit count the right way.
    ((64 &- (value | 1).leadingZeroBitCount) &* 9 &+ 64) &>> 6
  }

  /// How many bytes the tag of a field takes.
  @inlinable
  public static func size(ofTag number: Int32) -> Int {
    size(ofVarint: UInt64(UInt32(bitPattern: number) &<< 3))
  }
}
