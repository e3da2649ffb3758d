// Map keys of all types are strings in JSON.

extension MapKeyType where Value: FixedWidthInteger {
  public static func readJSONKey(from reader: inout JSONReader) throws(DecodeError) -> Value {
    try reader.integer(quotes: .required)
  }
  public static func writeJSONKey(_ key: Value, to writer: inout JSONWriter) {
    writer.integer(key, isQuoted: true)
  }
}

extension MapKeyType where Value == String {
  public static func readJSONKey(from reader: inout JSONReader) throws(DecodeError) -> String {
    try reader.string()
  }
  public static func writeJSONKey(_ key: String, to writer: inout JSONWriter) { writer.string(key) }
}

extension MapKeyType where Value == Bool {
  public static func readJSONKey(from reader: inout JSONReader) throws(DecodeError) -> Bool {
    let token = try reader.stringToken()
    switch try reader.text(of: token) {
    case "true": return true
    case "false": return false
    default: throw reader.fail("expected \"true\" or \"false\"", at: token.range.lowerBound - 1)
    }
  }
  public static func writeJSONKey(_ key: Bool, to writer: inout JSONWriter) {
    writer.string(key ? "true" : "false")
  }
}
