/// A scalar that is four bytes in binary.
public protocol Fixed32Type: ScalarType {
  /// The bits on the wire.
  static func bits(of value: Value) -> UInt32
  /// The value for bits from the wire.
  static func value(of bits: UInt32) -> Value
}

extension Fixed32Type {
  @inlinable
  public static var wireType: WireType { .fixed32 }
  @inlinable
  public static var isPackable: Bool { true }
  // Compares bits, because -0.0 is not the default value.
  @inlinable
  public static func isInitial(_ value: Value) -> Bool { bits(of: value) == 0 }
  @inlinable
  public static func read(from reader: inout WireReader) throws(DecodeError) -> Value? {
    value(of: try reader.fixed32())
  }
  @inlinable
  public static func readPacked(
    _ length: Int,
    into values: inout [Value],
    from reader: inout WireReader
  ) throws(DecodeError) -> Bool {
    try reader.fixed(length, appendingTo: &values) { value(of: UInt32(littleEndian: $0)) }
    return true
  }
  @inlinable
  public static func size(of value: Value) -> Int { 4 }
  @inlinable @inline(__always)
  public static func write(_ value: Value, to writer: inout WireWriter) { writer.fixed32(bits(of: value)) }
}

/// A scalar that is eight bytes in binary.
public protocol Fixed64Type: ScalarType {
  /// The bits on the wire.
  static func bits(of value: Value) -> UInt64
  /// The value for bits from the wire.
  static func value(of bits: UInt64) -> Value
}

extension Fixed64Type {
  @inlinable
  public static var wireType: WireType { .fixed64 }
  @inlinable
  public static var isPackable: Bool { true }
  // Compares bits, because -0.0 is not the default value.
  @inlinable
  public static func isInitial(_ value: Value) -> Bool { bits(of: value) == 0 }
  @inlinable
  public static func read(from reader: inout WireReader) throws(DecodeError) -> Value? {
    value(of: try reader.fixed64())
  }
  @inlinable
  public static func readPacked(
    _ length: Int,
    into values: inout [Value],
    from reader: inout WireReader
  ) throws(DecodeError) -> Bool {
    try reader.fixed(length, appendingTo: &values) { value(of: UInt64(littleEndian: $0)) }
    return true
  }
  @inlinable
  public static func size(of value: Value) -> Int { 8 }
  @inlinable @inline(__always)
  public static func write(_ value: Value, to writer: inout WireWriter) { writer.fixed64(bits(of: value)) }
}

/// `fixed32`
public enum ProtoFixed32: Fixed32Type {
  @inlinable
  public static var protoDefault: UInt32 { 0 }
  @inlinable
  public static func bits(of value: UInt32) -> UInt32 { value }
  @inlinable
  public static func value(of bits: UInt32) -> UInt32 { bits }
}

/// `sfixed32`
public enum ProtoSFixed32: Fixed32Type {
  @inlinable
  public static var protoDefault: Int32 { 0 }
  @inlinable
  public static func bits(of value: Int32) -> UInt32 { UInt32(bitPattern: value) }
  @inlinable
  public static func value(of bits: UInt32) -> Int32 { Int32(bitPattern: bits) }
}

/// `float`
public enum ProtoFloat: Fixed32Type {
  @inlinable
  public static var protoDefault: Float { 0 }
  @inlinable
  public static func bits(of value: Float) -> UInt32 { value.bitPattern }
  @inlinable
  public static func value(of bits: UInt32) -> Float { Float(bitPattern: bits) }
}

/// `fixed64`
public enum ProtoFixed64: Fixed64Type {
  @inlinable
  public static var protoDefault: UInt64 { 0 }
  @inlinable
  public static func bits(of value: UInt64) -> UInt64 { value }
  @inlinable
  public static func value(of bits: UInt64) -> UInt64 { bits }
}

/// `sfixed64`
public enum ProtoSFixed64: Fixed64Type {
  @inlinable
  public static var protoDefault: Int64 { 0 }
  @inlinable
  public static func bits(of value: Int64) -> UInt64 { UInt64(bitPattern: value) }
  @inlinable
  public static func value(of bits: UInt64) -> Int64 { Int64(bitPattern: bits) }
}

/// `double`
public enum ProtoDouble: Fixed64Type {
  @inlinable
  public static var protoDefault: Double { 0 }
  @inlinable
  public static func bits(of value: Double) -> UInt64 { value.bitPattern }
  @inlinable
  public static func value(of bits: UInt64) -> Double { Double(bitPattern: bits) }
}
