/// A value of a file of rules.
package indirect enum DocumentValue: Hashable, Sendable {
  case null
  case bool(Bool)
  /// As it is written, so that no digit is lost.
  case number(String)
  case string(String)
  case list([DocumentValue])
  /// In the order of the file.
  case map([Member])

  package struct Member: Hashable, Sendable {
    package let name: String
    package let value: DocumentValue

    package init(_ name: String, _ value: DocumentValue) {
      self.name = name
      self.value = value
    }
  }

  /// What it is, for messages.
  var kind: String {
    switch self {
    case .null: "null"
    case .bool: "a truth value"
    case .number: "a number"
    case .string: "text"
    case .list: "a list"
    case .map: "a map"
    }
  }

  /// The value as JSON.
  package var json: String {
    var text = ""
    write(to: &text)
    return text
  }

  private func write(to text: inout String) {
    switch self {
    case .null: text += "null"
    case .bool(let value): text += value ? "true" : "false"
    case .number(let digits): text += digits
    case .string(let value): Self.write(value, to: &text)
    case .list(let values):
      text += "["
      for (place, value) in values.enumerated() {
        if place > 0 { text += "," }
        value.write(to: &text)
      }
      text += "]"
    case .map(let members):
      text += "{"
      for (place, member) in members.enumerated() {
        if place > 0 { text += "," }
        Self.write(member.name, to: &text)
        text += ":"
        member.value.write(to: &text)
      }
      text += "}"
    }
  }

  private static func write(_ value: String, to text: inout String) {
    text += "\""
    for scalar in value.unicodeScalars {
      switch scalar {
      case "\"": text += "\\\""
      case "\\": text += "\\\\"
      case "\n": text += "\\n"
      case "\r": text += "\\r"
      case "\t": text += "\\t"
      case _ where scalar.value < 0x20 || scalar.value == 0x7f:
        let digits = String(scalar.value, radix: 16)
        text += "\\u" + String(repeating: "0", count: 4 - digits.utf8.count) + digits
      default: text.unicodeScalars.append(scalar)
      }
    }
    text += "\""
  }

  /// Text in JSON's notation, which YAML has, too.
  static func quoted(_ text: String) -> String { DocumentValue.string(text).json }
}

/// What is wrong with a file of rules, and where.
package struct RuleError: Error, Sendable, Hashable, CustomStringConvertible {
  package let description: String

  init(_ description: String) { self.description = description }

  init(line: Int, _ description: String) { self.description = "line \(line): \(description)" }
}
