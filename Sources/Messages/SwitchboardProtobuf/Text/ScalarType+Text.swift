// The values of scalars in the text format. The format does not distinguish integer types, so one implementation serves
// them all.
extension ScalarType where Value: FixedWidthInteger {
  public static func writeText(_ value: Value, to writer: inout TextFormatWriter) {
    writer.literal(String(value))
  }

  public static func readText(from reader: inout TextFormatReader) throws(DecodeError) -> Value {
    try reader.integer(as: Value.self)
  }
}

extension ProtoBool {
  public static func writeText(_ value: Bool, to writer: inout TextFormatWriter) {
    writer.literal(value ? "true" : "false")
  }

  public static func readText(from reader: inout TextFormatReader) throws(DecodeError) -> Bool {
    try reader.bool()
  }
}

extension ProtoFloat {
  public static func writeText(_ value: Float, to writer: inout TextFormatWriter) {
    writer.literal(TextFloat.text(value, precision: 6, maximum: 9))
  }

  /// Reads a number as a `double` and rounds it, as libprotobuf does.
  public static func readText(from reader: inout TextFormatReader) throws(DecodeError) -> Float {
    Float(try reader.double())
  }
}

extension ProtoDouble {
  public static func writeText(_ value: Double, to writer: inout TextFormatWriter) {
    writer.literal(TextFloat.text(value, precision: 15, maximum: 17))
  }

  public static func readText(from reader: inout TextFormatReader) throws(DecodeError) -> Double {
    try reader.double()
  }
}

extension ProtoString {
  public static func writeText(_ value: String, to writer: inout TextFormatWriter) { writer.quoted(value) }

  public static func readText(from reader: inout TextFormatReader) throws(DecodeError) -> String {
    guard let text = String(validating: try reader.bytes(), as: UTF8.self) else {
      throw DecodeError(.invalidUTF8)
    }
    return text
  }
}

extension ProtoUncheckedString {
  public static func writeText(_ value: String, to writer: inout TextFormatWriter) { writer.quoted(value) }

  /// Reads a string and replaces invalid UTF-8.
  public static func readText(from reader: inout TextFormatReader) throws(DecodeError) -> String {
    String(decoding: try reader.bytes(), as: UTF8.self)
  }
}

extension ProtoBytes {
  public static func writeText(_ value: [UInt8], to writer: inout TextFormatWriter) { writer.quoted(value) }

  public static func readText(from reader: inout TextFormatReader) throws(DecodeError) -> [UInt8] {
    try reader.bytes()
  }
}

extension Enum {
  /// Writes the name of the value, or its number if it has no name.
  public static func writeText(_ value: Self, to writer: inout TextFormatWriter) {
    let name = Int32(exactly: value.rawValue).flatMap(valueNames.name(of:))
    writer.literal(name ?? String(value.rawValue))
  }

  /// Reads a value by name or number.
  public static func readText(from reader: inout TextFormatReader) throws(DecodeError) -> Self {
    let position = reader.position
    if let name = reader.identifier() {
      if let number = valueNames.number(of: name), let value = Self(rawValue: Int(number)) { return value }
      throw reader.error("\(protoEnumName) has no value '\(name)'", at: position)
    }
    let number = try reader.integer(as: Int32.self)
    guard let value = Self(rawValue: Int(number)) else {
      throw reader.error("\(protoEnumName) has no value \(number)", at: position)
    }
    return value
  }
}
