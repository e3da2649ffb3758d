/// A scalar of fixed width in binary; conforming types only map the value to its bits and back.
public protocol FixedWidthType: ScalarType {
  /// The bits on the wire: `UInt32` or `UInt64`.
  associatedtype Bits: FixedWidthInteger & BitwiseCopyable

  /// The bits on the wire.
  static func bits(of value: Value) -> Bits
  /// The value for bits from the wire.
  static func value(of bits: Bits) -> Value
}

extension FixedWidthType {
  @inlinable
  public static var wireType: WireType { Bits.bitWidth == 32 ? .fixed32 : .fixed64 }
  @inlinable
  public static var isPackable: Bool { true }
  // Compares bits, because -0.0 is not the default value.
  @inlinable
  public static func isInitial(_ value: Value) -> Bool { bits(of: value) == 0 }
  @inlinable
  public static func read(from reader: inout WireReader) throws(DecodeError) -> Value? {
    value(of: try reader.fixed())
  }
  @inlinable
  public static func readPacked(
    _ length: Int,
    into values: inout [Value],
    from reader: inout WireReader
  ) throws(DecodeError) -> Bool {
    try reader.fixed(length, appendingTo: &values) { value(of: Bits(littleEndian: $0)) }
    return true
  }
  @inlinable
  public static func size(of value: Value) -> Int { MemoryLayout<Bits>.size }
  @inlinable @inline(__always)
  public static func write(_ value: Value, to writer: inout WireWriter) { writer.fixed(bits(of: value)) }
}

/// `fixed32`
public enum ProtoFixed32: FixedWidthType {
  @inlinable
  public static var protoDefault: UInt32 { 0 }
  @inlinable
  public static func bits(of value: UInt32) -> UInt32 { value }
  @inlinable
  public static func value(of bits: UInt32) -> UInt32 { bits }
}

/// `sfixed32`
public enum ProtoSFixed32: FixedWidthType {
  @inlinable
  public static var protoDefault: Int32 { 0 }
  @inlinable
  public static func bits(of value: Int32) -> UInt32 { UInt32(bitPattern: value) }
  @inlinable
  public static func value(of bits: UInt32) -> Int32 { Int32(bitPattern: bits) }
}

/// `float`
public enum ProtoFloat: FixedWidthType {
  @inlinable
  public static var protoDefault: Float { 0 }
  @inlinable
  public static func bits(of value: Float) -> UInt32 { value.bitPattern }
  @inlinable
  public static func value(of bits: UInt32) -> Float { Float(bitPattern: bits) }
}

/// `fixed64`
public enum ProtoFixed64: FixedWidthType {
  @inlinable
  public static var protoDefault: UInt64 { 0 }
  @inlinable
  public static func bits(of value: UInt64) -> UInt64 { value }
  @inlinable
  public static func value(of bits: UInt64) -> UInt64 { bits }
}

/// `sfixed64`
public enum ProtoSFixed64: FixedWidthType {
  @inlinable
  public static var protoDefault: Int64 { 0 }
  @inlinable
  public static func bits(of value: Int64) -> UInt64 { UInt64(bitPattern: value) }
  @inlinable
  public static func value(of bits: UInt64) -> Int64 { Int64(bitPattern: bits) }
}

/// `double`
public enum ProtoDouble: FixedWidthType {
  @inlinable
  public static var protoDefault: Double { 0 }
  @inlinable
  public static func bits(of value: Double) -> UInt64 { value.bitPattern }
  @inlinable
  public static func value(of bits: UInt64) -> Double { Double(bitPattern: bits) }
}
