/// Pieces of JSON that the command writes by itself.
enum JSONText {
  /// A string with its quotes.
  static func string(_ text: String) -> String {
    var quoted = "\""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"": quoted += "\\\""
      case "\\": quoted += "\\\\"
      case "\n": quoted += "\\n"
      case "\t": quoted += "\\t"
      case "\r": quoted += "\\r"
      case _ where scalar.value < 0x20 || (0x7F...0x9F).contains(scalar.value):
        let digits = String(scalar.value, radix: 16)
        quoted += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
      default: quoted.unicodeScalars.append(scalar)
      }
    }
    return quoted + "\""
  }

  /// An array of strings, an element on each line.
  static func array(_ elements: [String]) -> String {
    elements.isEmpty ? "[]" : "[\n" + elements.map { "  " + string($0) }.joined(separator: ",\n") + "\n]"
  }
}
