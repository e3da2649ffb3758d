/// The number and the wire type of a field, which precede its value, in 32 bits.
@frozen
public struct Tag: Hashable, Sendable {
  @usableFromInline let bits: UInt32

  /// The tag in 32 bits, or nil if the field number is zero or the wire type does not exist.
  @inlinable @inline(__always)
  init?(_ bits: UInt32) {
    guard bits >= 8, bits & 7 <= UInt32(WireType.fixed32.rawValue) else { return nil }
    self.bits = bits
  }

  private init(unchecked bits: UInt32) { self.bits = bits }

  /// A value that differs from every tag.
  static let none = Tag(unchecked: .max)

  /// The tag of a field, whose number must be valid in a schema.
  @inlinable @inline(__always)
  public init(number: Int32, _ type: WireType) {
    bits = UInt32(bitPattern: number) &<< 3 | UInt32(type.rawValue)
  }

  /// The largest number of a field that a tag can hold.
  static let largestNumber: Int32 = 1 << 29 - 1

  /// The number of the field: 1 to 536,870,911.
  @inlinable
  public var number: Int32 {
    @inline(__always) get { Int32(bitPattern: bits &>> 3) }
  }

  /// Whether the wire type is `type`.
  @inlinable @inline(__always)
  public func has(_ type: WireType) -> Bool { bits & 7 == UInt32(type.rawValue) }

  /// The wire type.
  public var wireType: WireType {
    // The initializers checked the bits.
    WireType(rawValue: UInt8(truncatingIfNeeded: bits & 7)) ?? .varint
  }
}
