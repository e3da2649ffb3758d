/// Pieces of JSON for documents that are not messages.
package enum JSONText {
  /// A string with its quotes. Control characters are escaped, and so is every character that `isEscaped` names.
  package static func string(
    _ text: String,
    escaping isEscaped: (Unicode.Scalar) -> Bool = { _ in false }
  ) -> String {
    var quoted = "\""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"": quoted += "\\\""
      case "\\": quoted += "\\\\"
      case "\n": quoted += "\\n"
      case "\t": quoted += "\\t"
      case "\r": quoted += "\\r"
      case _ where scalar.value < 0x20 || (0x7F...0x9F).contains(scalar.value) || isEscaped(scalar):
        for unit in UTF16.encode(scalar) ?? .init() { quoted += escape(unit) }
      default: quoted.unicodeScalars.append(scalar)
      }
    }
    return quoted + "\""
  }

  private static func escape(_ unit: UInt16) -> String {
    let digits = String(unit, radix: 16)
    return "\\u" + String(repeating: "0", count: 4 - digits.utf8.count) + digits
  }
}
