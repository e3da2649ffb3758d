import SwitchboardSchema

/// Converts default values from the text in a descriptor to a Swift expression.
enum DefaultLiteral {
  /// The expression for `text`, or nil if the text is not a value of the type.
  static func swift(for text: String, of scalar: Scalar) -> String? {
    // Integers of 32 bits are read as longer ones: the standard library's parser is compiled again for each type.
    switch scalar {
    case .double: float(text, infinity: "Double.infinity", nan: "Double.nan") { Double($0).map { "\($0)" } }
    case .float: float(text, infinity: "Float.infinity", nan: "Float.nan") { Float($0).map { "\($0)" } }
    case .int64, .sfixed64, .sint64: Int64(text).map(String.init)
    case .uint64, .fixed64: UInt64(text).map(String.init)
    case .int32, .sfixed32, .sint32: Int64(text).flatMap(Int32.init(exactly:)).map(String.init)
    case .uint32, .fixed32: UInt64(text).flatMap(UInt32.init(exactly:)).map(String.init)
    case .bool: text == "true" || text == "false" ? text : nil
    case .string, .uncheckedString: string(text)
    case .bytes: CEscapes.decode(text).map { "[" + $0.map(String.init).joined(separator: ", ") + "]" }
    }
  }

  private static func float(
    _ text: String,
    infinity: String,
    nan: String,
    finite: (String) -> String?
  ) -> String? {
    switch text {
    case "inf": return infinity
    case "-inf": return "-" + infinity
    case "nan", "-nan": return nan
    default:
      guard let literal = finite(text) else { return nil }
      // A number too large for the type becomes infinity.
      if literal.hasSuffix("inf") { return (literal.hasPrefix("-") ? "-" : "") + infinity }
      return literal.contains("n") ? nan : literal
    }
  }

  /// A string literal.
  static func string(_ text: String) -> String {
    var result = "\""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"": result += "\\\""
      case "\\": result += "\\\\"
      case "\n": result += "\\n"
      case "\r": result += "\\r"
      case "\t": result += "\\t"
      case _ where scalar.value < 0x20 || scalar.value == 0x7F:
        result += "\\u{" + String(scalar.value, radix: 16) + "}"
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result + "\""
  }
}
