import SwitchboardText

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
    _ = reader.peek()
    let start = reader.position
    let key = try reader.string()
    if key.hasLongRunOfMarks { throw reader.fail(DecodeError.longRunOfMarks, at: start) }
    return key
  }
  public static func writeJSONKey(_ key: String, to writer: inout JSONWriter) { writer.string(key) }
}

extension MapKeyType where Value == Bool {
  public static func readJSONKey(from reader: inout JSONReader) throws(DecodeError) -> Bool {
    let token = try reader.stringToken()
    let text = try reader.contents(of: token)
    if text.elementsEqual("true".utf8) { return true }
    if text.elementsEqual("false".utf8) { return false }
    throw reader.fail("expected \"true\" or \"false\"", at: token.range.lowerBound - 1)
  }
  public static func writeJSONKey(_ key: Bool, to writer: inout JSONWriter) {
    writer.string(key ? "true" : "false")
  }
}
