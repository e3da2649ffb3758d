/// What stands before the value of a field: its number and its wire type, in 32 bits.
@frozen
public struct Tag: Hashable, Sendable {
  @usableFromInline let bits: UInt32

  /// The tag in 32 bits, or nil where they have field number zero or a wire type that does not exist.
  @inlinable @inline(__always)
  init?(_ bits: UInt32) {
    guard bits >= 8, bits & 7 <= UInt32(WireType.fixed32.rawValue) else { return nil }
    self.bits = bits
  }

  /// The tag of a field. The number is one that a schema can have.
  @inlinable @inline(__always)
  public init(number: Int32, _ type: WireType) {
    bits = UInt32(bitPattern: number) &<< 3 | UInt32(type.rawValue)
  }

  /// The number of the field: 1 to 536,870,911.
  @inlinable
  public var number: Int32 {
    @inline(__always) get { Int32(bitPattern: bits &>> 3) }
  }

  /// Whether the value is framed as `type` has it.
  @inlinable @inline(__always)
  public func has(_ type: WireType) -> Bool { bits & 7 == UInt32(type.rawValue) }

  /// How the value is framed.
  public var wireType: WireType {
    // Checked when the tag was made.
    WireType(rawValue: UInt8(truncatingIfNeeded: bits & 7)) ?? .varint
  }
}
