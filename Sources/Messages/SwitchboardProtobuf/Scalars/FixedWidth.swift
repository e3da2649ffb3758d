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

extension FixedWidthType where Value: FixedWidthInteger {
  @inlinable
  public static var protoDefault: Value { 0 }
  @inlinable
  public static func bits(of value: Value) -> Bits { Bits(truncatingIfNeeded: value) }
  @inlinable
  public static func value(of bits: Bits) -> Value { Value(truncatingIfNeeded: bits) }
}

/// `fixed32`
public enum ProtoFixed32: FixedWidthType {
  public typealias Value = UInt32
  public typealias Bits = UInt32
}

/// `sfixed32`
public enum ProtoSFixed32: FixedWidthType {
  public typealias Value = Int32
  public typealias Bits = UInt32
}

/// `fixed64`
public enum ProtoFixed64: FixedWidthType {
  public typealias Value = UInt64
  public typealias Bits = UInt64
}

/// `sfixed64`
public enum ProtoSFixed64: FixedWidthType {
  public typealias Value = Int64
  public typealias Bits = UInt64
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

/// `double`
public enum ProtoDouble: FixedWidthType {
  @inlinable
  public static var protoDefault: Double { 0 }
  @inlinable
  public static func bits(of value: Double) -> UInt64 { value.bitPattern }
  @inlinable
  public static func value(of bits: UInt64) -> Double { Double(bitPattern: bits) }
}
