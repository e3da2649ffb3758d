import SwitchboardText

// The JSON form of the values of each kind. Kinds that differ only in binary share it.

extension ScalarType {
  public static var acceptsJSONNull: Bool { false }

  public static func replaceJSON(
    _ value: inout Value,
    from reader: inout JSONReader
  ) throws(DecodeError) {
    if let new = try readJSON(from: &reader) { value = new }
  }

  public static func readJSONElements(
    into values: inout [Value],
    from reader: inout JSONReader
  ) throws(DecodeError) {
    var isFirst = true
    var index = 0
    while try reader.hasNext(UInt8(ascii: "]"), isFirst: &isFirst) {
      do throws(DecodeError) {
        if let value = try readJSON(from: &reader) { values.append(value) }
      } catch {
        throw error.inElement(index)
      }
      index += 1
    }
  }

  public static func writeJSONElements(_ values: [Value], to writer: inout JSONWriter) {
    var isFirst = true
    for value in values {
      if !isFirst { writer.byte(UInt8(ascii: ",")) }
      isFirst = false
      writeJSON(value, to: &writer)
    }
  }
}

extension ScalarType where Value: FixedWidthInteger {
  public static func readJSON(from reader: inout JSONReader) throws(DecodeError) -> Value? {
    try reader.integer()
  }
  // The quotes are necessary because JavaScript rounds numbers to 53 bits.
  public static func writeJSON(_ value: Value, to writer: inout JSONWriter) {
    writer.integer(value, isQuoted: Value.bitWidth > 32 && !writer.options.alwaysPrintInt64sAsNumbers)
  }
}

extension ScalarType where Value == Bool {
  public static func readJSON(from reader: inout JSONReader) throws(DecodeError) -> Bool? {
    try reader.bool()
  }
  public static func writeJSON(_ value: Bool, to writer: inout JSONWriter) { writer.bool(value) }
}

extension ScalarType where Value == Double {
  public static func readJSON(from reader: inout JSONReader) throws(DecodeError) -> Double? {
    try reader.double()
  }
  public static func writeJSON(_ value: Double, to writer: inout JSONWriter) { writer.double(value) }
}

extension ScalarType where Value == Float {
  public static func readJSON(from reader: inout JSONReader) throws(DecodeError) -> Float? {
    try reader.float()
  }
  public static func writeJSON(_ value: Float, to writer: inout JSONWriter) { writer.float(value) }
}

extension ScalarType where Value == String {
  public static func readJSON(from reader: inout JSONReader) throws(DecodeError) -> String? {
    try reader.string()
  }
  public static func writeJSON(_ value: String, to writer: inout JSONWriter) { writer.string(value) }
}

extension ScalarType where Value == [UInt8] {
  public static func readJSON(from reader: inout JSONReader) throws(DecodeError) -> [UInt8]? {
    let token = try reader.stringToken()
    guard let bytes = Base64.decodeEither(try reader.contents(of: token)) else {
      throw reader.fail("expected Base64", at: token.range.lowerBound - 1)
    }
    return bytes
  }
  public static func writeJSON(_ value: [UInt8], to writer: inout JSONWriter) { writer.base64(value) }
}

extension Enum {
  public static func readJSON(from reader: inout JSONReader) throws(DecodeError) -> Self? {
    try reader.enumValue()
  }

  public static func writeJSON(_ value: Self, to writer: inout JSONWriter) {
    let number = Int32(truncatingIfNeeded: value.rawValue)
    if !writer.options.alwaysPrintEnumsAsInts, let name = valueNames.name(of: number) {
      writer.string(name)
    } else {
      writer.integer(number)
    }
  }
}

extension JSONReader {
  /// Reads the name or number of an enum value. Nil if it is unknown and unknown values are ignored.
  mutating func enumValue<E: Enum>() throws(DecodeError) -> E? {
    let value: E?
    let isName = peek() == UInt8(ascii: "\"")
    let start = position
    if isName {
      value = E.valueNames.number(of: try string()).flatMap { E(rawValue: Int($0)) }
    } else {
      value = E(rawValue: Int(try integer(Int32.self, quotes: .forbidden)))
    }
    guard value != nil || ignoresUnknown else {
      throw failEnum(E.protoEnumName, at: start)
    }
    return value
  }

  /// The error for the preceding name or number, which the enum does not define.
  func failEnum(_ name: String, at start: Int) -> DecodeError {
    // Quoted as written.
    fail("\(name) has no value \(bytes[start..<position].excerpt())", at: start)
  }
}
