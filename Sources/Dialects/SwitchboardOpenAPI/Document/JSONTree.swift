import SwitchboardProtobuf
import SwitchboardText

/// A JSON value whose members keep their order, for documents that people read.
indirect enum JSONTree: Hashable, Sendable {
  case string(String)
  case number(Int)
  case bool(Bool)
  case null
  /// Text that is already JSON.
  case verbatim(String)
  case array([JSONTree])
  case object([Member])

  struct Member: Hashable, Sendable {
    let name: String
    let value: JSONTree
  }

  /// The text, indented by two spaces.
  var text: String {
    var text = ""
    write(to: &text, indent: "\n")
    return text + "\n"
  }

  private func write(to text: inout String, indent: String) {
    switch self {
    case .string(let value): text += JSONText.string(value)
    case .number(let value): text += String(value)
    case .bool(let value): text += value ? "true" : "false"
    case .null: text += "null"
    case .verbatim(let value): text += value
    case .array(let values):
      Self.write(values, between: "[", "]", to: &text, indent) { value, text, indent in
        value.write(to: &text, indent: indent)
      }
    case .object(let members):
      Self.write(members, between: "{", "}", to: &text, indent) { member, text, indent in
        text += JSONText.string(member.name) + ": "
        member.value.write(to: &text, indent: indent)
      }
    }
  }

  /// Writes the elements of an array or an object, each on lines of its own.
  private static func write<Element>(
    _ elements: [Element],
    between start: String,
    _ end: String,
    to text: inout String,
    _ indent: String,
    _ writeElement: (Element, inout String, String) -> Void
  ) {
    text += start
    for (index, element) in elements.enumerated() {
      text += (index > 0 ? "," : "") + indent + "  "
      writeElement(element, &text, indent + "  ")
    }
    text += (elements.isEmpty ? "" : indent) + end
  }
}

extension JSONTree: ExpressibleByStringLiteral, ExpressibleByDictionaryLiteral, ExpressibleByArrayLiteral,
  ExpressibleByBooleanLiteral
{
  init(stringLiteral value: String) { self = .string(value) }
  init(booleanLiteral value: Bool) { self = .bool(value) }
  init(arrayLiteral elements: JSONTree...) { self = .array(elements) }
  init(dictionaryLiteral elements: (String, JSONTree)...) {
    self = .object(elements.map { Member(name: $0.0, value: $0.1) })
  }

  /// The object with additional members. Members whose value is `nil` are left out.
  func adding(_ members: KeyValuePairs<String, JSONTree?>) -> JSONTree {
    guard case .object(let present) = self else { return self }
    return .object(
      present + members.compactMap { pair in pair.value.map { Member(name: pair.key, value: $0) } }
    )
  }
}
