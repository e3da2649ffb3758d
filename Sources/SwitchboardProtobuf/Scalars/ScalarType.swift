/// How one kind of field value is written and read: `sint32` and `fixed32` hold the same Swift
/// type and differ in everything else.
///
/// The types that conform are names only (``ProtoInt32``, ``ProtoString``, …) and, for their own
/// values, the generated enums.
public protocol ScalarType {
  /// The Swift type of the values.
  associatedtype Value: Hashable, Sendable

  /// The value of a field without presence that was not set.
  ///
  /// The name is an unlikely one, since the cases of enums stand beside it.
  static var protoDefault: Value { get }

  /// Whether `value` is what a field without presence leaves out: bit for bit ``protoDefault``.
  static func isInitial(_ value: Value) -> Bool

  // MARK: Binary

  /// How a value that stands alone (not packed) is framed.
  static var wireType: WireType { get }

  /// Whether repeated values may share one length-delimited field.
  static var isPackable: Bool { get }

  /// Reads a value. Nil is a number that a closed enum does not have.
  static func read(from reader: inout WireReader) throws(DecodeError) -> Value?

  /// Appends the values that fill the next `length` bytes, which are there. False where they have to be read one by one, because
  /// one may be a number that a closed enum does not have.
  static func readPacked(
    _ length: Int,
    into values: inout [Value],
    from reader: inout WireReader
  ) throws(DecodeError) -> Bool

  /// The number of bytes that ``write(_:to:)`` writes.
  static func size(of value: Value) -> Int

  /// Writes a value without its tag.
  static func write(_ value: Value, to writer: inout WireWriter)

  /// Writes a value behind its tag.
  static func write(_ value: Value, tag: EncodedTag, to writer: inout WireWriter)

  /// Writes values one after the other, which take `length` bytes.
  static func writePacked(_ values: [Value], length: Int, to writer: inout WireWriter)

  // MARK: JSON

  /// Whether `null` is a value of the type, and not the absence of one.
  static var acceptsJSONNull: Bool { get }

  /// Reads a value. Nil is an enum value that is unknown, where that is allowed.
  static func readJSON(from reader: inout JSONReader) throws(DecodeError) -> Value?

  /// Writes a value.
  static func writeJSON(_ value: Value, to writer: inout JSONWriter)

  // As in binary, these have one implementation each and are requirements so that every type has a copy of its own.

  /// Reads a value in place of `value`; leaves it as it is where the new one is unknown.
  static func replaceJSON(_ value: inout Value, from reader: inout JSONReader) throws(DecodeError)

  /// Reads the elements of an array behind its opening bracket, up to the closing one.
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
