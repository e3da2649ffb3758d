// Every generated enum is a scalar type.
extension Enum {
  @inlinable
  public static var protoDefault: Self { Self() }
  @inlinable
  public static func isInitial(_ value: Self) -> Bool { value.rawValue == 0 }
  @inlinable
  public static var wireType: WireType { .varint }
  @inlinable
  public static var isPackable: Bool { true }

  @inlinable
  public static func read(from reader: inout WireReader) throws(DecodeError) -> Self? {
    Self(rawValue: Int(Int32(truncatingIfNeeded: try reader.varint())))
  }

  @inlinable
  public static func size(of value: Self) -> Int {
    WireWriter.size(ofVarint: UInt64(bitPattern: Int64(value.rawValue)))
  }

  @inlinable
  public static func write(_ value: Self, to writer: inout WireWriter) {
    writer.varint(UInt64(bitPattern: Int64(value.rawValue)))
  }

  @inlinable @inline(__always)
  public static func write(_ value: Self, tag: EncodedTag, to writer: inout WireWriter) {
    writer.tag(tag, varint: UInt64(bitPattern: Int64(value.rawValue)))
  }

  @inlinable
  public static func writePacked(_ values: [Self], length: Int, to writer: inout WireWriter) {
    writer.varints(values, length: length) { UInt64(bitPattern: Int64($0.rawValue)) }
  }
}
