import SwitchboardDescriptors
import SwitchboardProtobuf

extension ProtoPrinter {
  /// A line for each option.
  mutating func options<Options: Message>(_ options: Options?, _ type: String) {
    for text in optionTexts(options, type) { line("\(keyword("option")) \(text);") }
  }

  /// Each option as `name = value`; those of users are found where the schema has descriptor.proto and their file.
  func optionTexts<Options: Message>(_ options: Options?, _ type: String) -> [String] {
    guard let options else { return [] }
    var text: String
    if let table = schema.pool.messageType(named: type), let bytes = try? options.serializedBytes(),
      let dynamic = try? DynamicMessage(table, serializedBytes: bytes)
    {
      var format = TextFormatEncodingOptions()
      format.printUnknownFields = false
      format.typeRegistry = schema.types
      text = dynamic.textFormatString(options: format)
    } else {
      var format = TextFormatEncodingOptions()
      format.printUnknownFields = false
      text = options.textFormatString(options: format)
    }
    return Self.assignments(in: text)
  }

  /// The options of a field, with its default and its name in JSON, which descriptors keep elsewhere.
  func fieldOptions(_ field: Google_Protobuf_FieldDescriptorProto) -> [String] {
    var options: [String] = []
    if field.hasDefaultValue {
      switch field.type {
      case .string: options.append("default = \(JSONText.string(field.defaultValue))")
      // The descriptor has it with its escapes.
      case .bytes: options.append("default = \"\(field.defaultValue.harmless)\"")
      default: options.append("default = \(field.defaultValue.harmless)")
      }
    }
    if field.hasJsonName, !field.hasExtendee, field.jsonName != Self.jsonName(of: field.name) {
      options.append("json_name = \(JSONText.string(field.jsonName))")
    }
    return options + optionTexts(field.hasOptions ? field.options : nil, "google.protobuf.FieldOptions")
  }

  /// The text format's `name: value` and `name { ... }` as the `name = value` of options.
  static func assignments(in text: String) -> [String] {
    var found: [String] = []
    for line in text.split(separator: "\n") {
      if line.hasPrefix(" ") || line.hasPrefix("}") {
        guard let last = found.indices.last else { continue }
        found[last] += " " + String(line.drop { $0 == " " })
        continue
      }
      // An extension's name is in brackets here, and in parentheses in a .proto.
      var (name, rest): (Substring, Substring)
      if line.hasPrefix("["), let end = line.firstIndex(of: "]") {
        (name, rest) = (line[line.index(after: line.startIndex)..<end], line[line.index(after: end)...])
        name = "(\(name))"
      } else {
        name = line.prefix { $0 != ":" && $0 != " " }
        rest = line.dropFirst(name.count)
      }
      found.append("\(name) = \(rest.drop { $0 == ":" || $0 == " " })".harmless)
    }
    return found
  }

  /// The name that a field has in JSON if nothing else is said.
  private static func jsonName(of name: String) -> String {
    var json = ""
    var isUpper = false
    for character in name {
      if character == "_" {
        isUpper = true
      } else {
        json += isUpper ? character.uppercased() : String(character)
        isUpper = false
      }
    }
    return json
  }
}
