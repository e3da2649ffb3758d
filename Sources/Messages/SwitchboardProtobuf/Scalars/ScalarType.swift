/// Writes and reads the values of one kind of field: `sint32` and `fixed32` have the same Swift type but different
/// encodings.
///
/// The conforming types are enums without cases (``ProtoInt32``, ``ProtoString``, …) and the generated enums, which are
/// their own values.
public protocol ScalarType {
  /// The Swift type of the values.
  associatedtype Value: Hashable, Sendable

  /// The value of a field without presence that is not set.
  ///
  /// The name is unusual so that it does not clash with the cases of generated enums.
  static var protoDefault: Value { get }

  /// Whether a field without presence omits `value`, because it is bit for bit ``protoDefault``.
  static func isInitial(_ value: Value) -> Bool

  // MARK: Binary

  /// The wire type of a value that is not packed.
  static var wireType: WireType { get }

  /// Whether repeated values may share one length-delimited field.
  static var isPackable: Bool { get }

  /// Reads a value. Nil means a number that a closed enum does not define.
  static func read(from reader: inout WireReader) throws(DecodeError) -> Value?

  /// Appends the values in the next `length` bytes, which are in the buffer. Returns false if they must be read one by
  /// one, because one may be a number that a closed enum does not define.
  static func readPacked(
    _ length: Int,
    into values: inout [Value],
    from reader: inout WireReader
  ) throws(DecodeError) -> Bool

  /// The number of bytes that ``write(_:to:)`` writes.
  static func size(of value: Value) -> Int

  /// Writes a value without its tag.
  static func write(_ value: Value, to writer: inout WireWriter)

  /// Writes a tag and a value.
  static func write(_ value: Value, tag: EncodedTag, to writer: inout WireWriter)

  /// Writes values one after the other, `length` bytes in total.
  static func writePacked(_ values: [Value], length: Int, to writer: inout WireWriter)

  // MARK: JSON

  /// Whether `null` is a value of the type rather than an absent one.
  static var acceptsJSONNull: Bool { get }

  /// Reads a value. Nil means an unknown enum value, if those are ignored.
  static func readJSON(from reader: inout JSONReader) throws(DecodeError) -> Value?

  /// Writes a value.
  static func writeJSON(_ value: Value, to writer: inout JSONWriter)

  // Like the binary ones, these have one implementation each and are requirements so that each type gets a specialized
  // copy.

  /// Reads a value into `value`; an unknown value leaves it unchanged.
  static func replaceJSON(_ value: inout Value, from reader: inout JSONReader) throws(DecodeError)

  /// Reads the elements of an array after its opening bracket, up to the closing one.
  static func readJSONElements(
    into values: inout [Value],
    from reader: inout JSONReader
  ) throws(DecodeError)

  /// Writes the elements of an array with commas between them.
  static func writeJSONElements(_ values: [Value], to writer: inout JSONWriter)

  // MARK: Text

  /// Writes a value in the text format.
  static func writeText(_ value: Value, to writer: inout TextFormatWriter)

  /// Reads a value in the text format.
  static func readText(from reader: inout TextFormatReader) throws(DecodeError) -> Value
}

extension ScalarType {
  @inlinable
  public static func readPacked(
    _ length: Int,
    into values: inout [Value],
    from reader: inout WireReader
  ) throws(DecodeError) -> Bool { false }

  @inlinable @inline(__always)
  public static func write(_ value: Value, tag: EncodedTag, to writer: inout WireWriter) {
    writer.tag(tag)
    write(value, to: &writer)
  }

  @inlinable
  public static func writePacked(_ values: [Value], length: Int, to writer: inout WireWriter) {
    for value in values { write(value, to: &writer) }
  }
}

/// A ``ScalarType`` that may be the key of a map.
public protocol MapKeyType: ScalarType {
  /// The order in which deterministic output sorts the entries of a map.
  static func areInIncreasingOrder(_ left: Value, _ right: Value) -> Bool

  /// Reads a key, which is a string in JSON.
  static func readJSONKey(from reader: inout JSONReader) throws(DecodeError) -> Value

  /// Writes a key as a string.
  static func writeJSONKey(_ key: Value, to writer: inout JSONWriter)
}
