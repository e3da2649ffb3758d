import SwitchboardProtobuf
import SwitchboardText

/// A value in a rule file.
package indirect enum DocumentValue: Hashable, Sendable {
  case null
  case bool(Bool)
  /// A number as written, so that no digit is lost.
  case number(String)
  case string(String)
  case list([DocumentValue])
  /// A map, in the order of the file.
  case map([Member])

  package struct Member: Hashable, Sendable {
    package let name: String
    package let value: DocumentValue

    package init(_ name: String, _ value: DocumentValue) {
      self.name = name
      self.value = value
    }
  }

  /// The kind of value, for error messages.
  var kind: String {
    switch self {
    case .null: "null"
    case .bool: "a Boolean"
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
    case .string(let value): text += JSONText.string(value)
    case .list(let values):
      text += "["
      for (index, value) in values.enumerated() {
        if index > 0 { text += "," }
        value.write(to: &text)
      }
      text += "]"
    case .map(let members):
      text += "{"
      for (index, member) in members.enumerated() {
        if index > 0 { text += "," }
        text += JSONText.string(member.name) + ":"
        member.value.write(to: &text)
      }
      text += "}"
    }
  }

  /// Text as a JSON string, which is also valid YAML.
  static func quoted(_ text: String) -> String { JSONText.string(text) }
}

/// An error in a rule file, with its line.
package struct RuleError: Error, Sendable, Hashable, CustomStringConvertible {
  package let description: String

  init(_ description: String) { self.description = description }

  init(line: Int, _ description: String) { self.description = "line \(line): \(description)" }

  /// An error at a byte of a file.
  init(at offset: Int, in bytes: [UInt8], _ description: String) {
    let position = TextPosition(of: offset, in: bytes)
    self.description = "line \(position.line), column \(position.column): \(description)"
  }
}
