/// A scalar with a length in binary: a sequence, which is empty by default.
public protocol LengthDelimitedType: ScalarType where Value: RangeReplaceableCollection {}

extension LengthDelimitedType {
  @inlinable
  public static var protoDefault: Value { Value() }
  @inlinable
  public static func isInitial(_ value: Value) -> Bool { value.isEmpty }
  @inlinable
  public static var wireType: WireType { .lengthDelimited }
  @inlinable
  public static var isPackable: Bool { false }
}

/// `string`: invalid UTF-8 is rejected.
public enum ProtoString: LengthDelimitedType {
  @inlinable
  public static func read(from reader: inout WireReader) throws(DecodeError) -> String? {
    try reader.string()
  }

  @inlinable @inline(__always)
  public static func size(of value: String) -> Int {
    let count = value.utf8.count
    return WireWriter.size(ofVarint: UInt64(count)) + count
  }

  public static func write(_ value: String, to writer: inout WireWriter) {
    let bytes = Array(value.utf8)
    writer.varint(UInt64(bytes.count))
    writer.raw(bytes)
  }

  @inlinable @inline(__always)
  public static func write(_ value: String, tag: EncodedTag, to writer: inout WireWriter) {
    writer.string(value, tag: tag)
  }
}

/// `string` in a schema that disables the check for UTF-8 (`proto2`, and editions with `utf8_validation = NONE`):
/// invalid bytes become U+FFFD, because a Swift string cannot hold them.
public enum ProtoUncheckedString: LengthDelimitedType {
  /// Reads a string and replaces invalid UTF-8.
  public static func read(from reader: inout WireReader) throws(DecodeError) -> String? {
    String(decoding: try reader.lengthDelimited(), as: UTF8.self)
  }

  @inlinable
  public static func size(of value: String) -> Int { ProtoString.size(of: value) }
  @inlinable
  public static func write(_ value: String, to writer: inout WireWriter) {
    ProtoString.write(value, to: &writer)
  }
  @inlinable @inline(__always)
  public static func write(_ value: String, tag: EncodedTag, to writer: inout WireWriter) {
    ProtoString.write(value, tag: tag, to: &writer)
  }
}

/// `bytes`
public enum ProtoBytes: LengthDelimitedType {
  /// Reads the length and a copy of the bytes.
  public static func read(from reader: inout WireReader) throws(DecodeError) -> [UInt8]? {
    try reader.bytes()
  }

  @inlinable
  public static func size(of value: [UInt8]) -> Int {
    WireWriter.size(ofVarint: UInt64(value.count)) + value.count
  }

  /// Writes the length and the bytes.
  public static func write(_ value: [UInt8], to writer: inout WireWriter) {
    writer.varint(UInt64(value.count))
    writer.raw(value)
  }
}
