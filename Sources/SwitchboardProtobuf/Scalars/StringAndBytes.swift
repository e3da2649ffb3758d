/// `string`: UTF-8, and refused when it is not.
public enum ProtoString: ScalarType {
  @inlinable
  public static var initial: String { "" }
  @inlinable
  public static func isInitial(_ value: String) -> Bool { value.isEmpty }
  @inlinable
  public static var wireType: WireType { .lengthDelimited }
  @inlinable
  public static var isPackable: Bool { false }

  /// Reads a string and checks that it is UTF-8.
  public static func read(from reader: inout WireReader) throws(DecodeError) -> String? {
    let bytes = try reader.lengthDelimited().bindMemory(to: UInt8.self)
    // Most strings are ASCII, which takes less to see than UTF-8 takes to check.
    if isASCII(bytes) { return String(copying: UTF8Span(unchecked: bytes.span, isKnownASCII: true)) }
    guard let text = try? UTF8Span(validating: bytes.span) else { throw DecodeError(.invalidUTF8) }
    return String(copying: text)
  }

  @inline(__always)
  private static func isASCII(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
    let raw = UnsafeRawBufferPointer(bytes)
    var bits: UInt64 = 0
    var index = 0
    while index &+ 8 <= raw.count {
      bits |= raw.loadUnaligned(fromByteOffset: index, as: UInt64.self)
      index &+= 8
    }
    while index < raw.count {
      bits |= UInt64(raw[index])
      index &+= 1
    }
    return bits & 0x8080_8080_8080_8080 == 0
  }

  @inlinable
  public static func size(of value: String) -> Int {
    let count = value.utf8.count
    return WireWriter.size(ofVarint: UInt64(count)) + count
  }

  /// Writes the length and the UTF-8.
  public static func write(_ value: String, to writer: inout WireWriter) {
    let utf8 = value.utf8
    writer.varint(UInt64(utf8.count))
    let isContiguous: Void? = utf8.withContiguousStorageIfAvailable { writer.raw(UnsafeRawBufferPointer($0)) }
    if isContiguous == nil { writer.raw(Array(utf8)) }
  }
}

/// `string` in a schema that turns the check for UTF-8 off (`proto2`, and editions with
/// `utf8_validation = NONE`): what is not UTF-8 becomes U+FFFD, since a Swift string can hold nothing else.
public enum ProtoUncheckedString: ScalarType {
  @inlinable
  public static var initial: String { "" }
  @inlinable
  public static func isInitial(_ value: String) -> Bool { value.isEmpty }
  @inlinable
  public static var wireType: WireType { .lengthDelimited }
  @inlinable
  public static var isPackable: Bool { false }

  /// Reads a string, mending what is not UTF-8.
  public static func read(from reader: inout WireReader) throws(DecodeError) -> String? {
    String(decoding: try reader.lengthDelimited(), as: UTF8.self)
  }

  @inlinable
  public static func size(of value: String) -> Int { ProtoString.size(of: value) }
  @inlinable
  public static func write(_ value: String, to writer: inout WireWriter) {
    ProtoString.write(value, to: &writer)
  }
}

/// `bytes`
public enum ProtoBytes: ScalarType {
  @inlinable
  public static var initial: [UInt8] { [] }
  @inlinable
  public static func isInitial(_ value: [UInt8]) -> Bool { value.isEmpty }
  @inlinable
  public static var wireType: WireType { .lengthDelimited }
  @inlinable
  public static var isPackable: Bool { false }

  /// Reads the length and a copy of the bytes.
  public static func read(from reader: inout WireReader) throws(DecodeError) -> [UInt8]? {
    Array(try reader.lengthDelimited())
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
