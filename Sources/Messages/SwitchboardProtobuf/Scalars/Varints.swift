/// A scalar that is a varint in binary; conforming types only map the value to 64 bits and back.
public protocol VarintType: ScalarType where Value: Equatable {
  /// The bits on the wire.
  static func bits(of value: Value) -> UInt64
  /// The value for bits from the wire; a narrower type uses the low ones.
  static func value(of bits: UInt64) -> Value
}

extension VarintType {
  @inlinable
  public static var wireType: WireType { .varint }
  @inlinable
  public static var isPackable: Bool { true }
  @inlinable
  public static func isInitial(_ value: Value) -> Bool { value == protoDefault }
  @inlinable
  public static func read(from reader: inout WireReader) throws(DecodeError) -> Value? {
    value(of: try reader.varint())
  }
  @inlinable
  public static func readPacked(
    _ length: Int,
    into values: inout [Value],
    from reader: inout WireReader
  ) throws(DecodeError) -> Bool {
    try reader.varints(length, appendingTo: &values, value: value(of:))
    return true
  }
  @inlinable
  public static func size(of value: Value) -> Int { WireWriter.size(ofVarint: bits(of: value)) }
  @inlinable
  public static func write(_ value: Value, to writer: inout WireWriter) { writer.varint(bits(of: value)) }
  @inlinable @inline(__always)
  public static func write(_ value: Value, tag: EncodedTag, to writer: inout WireWriter) {
    writer.tag(tag, varint: bits(of: value))
  }
  @inlinable
  public static func writePacked(_ values: [Value], length: Int, to writer: inout WireWriter) {
    writer.varints(values, length: length, bits: bits(of:))
  }
}

extension VarintType where Value: FixedWidthInteger {
  @inlinable
  public static var protoDefault: Value { 0 }
  // Negative numbers are sign-extended, so they take ten bytes.
  @inlinable
  public static func bits(of value: Value) -> UInt64 { UInt64(truncatingIfNeeded: value) }
  @inlinable
  public static func value(of bits: UInt64) -> Value { Value(truncatingIfNeeded: bits) }
}

/// `int32`
public enum ProtoInt32: VarintType {
  public typealias Value = Int32
}

/// `int64`
public enum ProtoInt64: VarintType {
  public typealias Value = Int64
}

/// `uint32`
public enum ProtoUInt32: VarintType {
  public typealias Value = UInt32
}

/// `uint64`
public enum ProtoUInt64: VarintType {
  public typealias Value = UInt64
}

/// `sint32`: zigzag, so that small negative numbers stay short.
public enum ProtoSInt32: VarintType {
  public typealias Value = Int32

  @inlinable
  public static func bits(of value: Int32) -> UInt64 {
    UInt64(UInt32(bitPattern: (value &<< 1) ^ (value &>> 31)))
  }
  @inlinable
  public static func value(of bits: UInt64) -> Int32 {
    let low = UInt32(truncatingIfNeeded: bits)
    return Int32(bitPattern: (low &>> 1) ^ (0 &- (low & 1)))
  }
}

/// `sint64`: zigzag, so that small negative numbers stay short.
public enum ProtoSInt64: VarintType {
  public typealias Value = Int64

  @inlinable
  public static func bits(of value: Int64) -> UInt64 {
    UInt64(bitPattern: (value &<< 1) ^ (value &>> 63))
  }
  @inlinable
  public static func value(of bits: UInt64) -> Int64 {
    Int64(bitPattern: (bits &>> 1) ^ (0 &- (bits & 1)))
  }
}

/// `bool`
public enum ProtoBool: VarintType {
  @inlinable
  public static var protoDefault: Bool { false }
  @inlinable
  public static func bits(of value: Bool) -> UInt64 { value ? 1 : 0 }
  @inlinable
  public static func value(of bits: UInt64) -> Bool { bits != 0 }
}
