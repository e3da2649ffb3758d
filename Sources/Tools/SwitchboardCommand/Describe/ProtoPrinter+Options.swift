import SwitchboardDescriptors
import SwitchboardProtobuf

extension ProtoPrinter {
  /// Prints a line for each option.
  mutating func options<Options: Message>(_ options: Options?, _ type: String) {
    for text in optionTexts(options, type) { line("\(keyword("option")) \(text);") }
  }

  /// Each option as `name = value`. Custom options are included if the schema contains descriptor.proto and the file
  /// that declares them.
  func optionTexts<Options: Message>(_ options: Options?, _ type: String) -> [ShownText] {
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

  /// The options of a field, including its default and its JSON name, which are not in the options of the descriptor.
  func fieldOptions(_ field: Google_Protobuf_FieldDescriptorProto) -> [ShownText] {
    var options: [ShownText] = []
    if field.hasDefaultValue {
      switch field.type {
      case .string: options.append("default = \(Self.literal(field.defaultValue))")
      // The value in the descriptor is already escaped.
      case .bytes: options.append("default = \"\(field.defaultValue)\"")
      default: options.append("default = \(field.defaultValue)")
      }
    }
    if field.hasJsonName, !field.hasExtendee, field.jsonName != FieldNames.lowerCamelCase(field.name) {
      options.append("json_name = \(Self.literal(field.jsonName))")
    }
    return options + optionTexts(field.hasOptions ? field.options : nil, "google.protobuf.FieldOptions")
  }

  /// Converts the text format's `name: value` and `name { ... }` to the `name = value` of options.
  private static func assignments(in text: String) -> [ShownText] {
    var found: [ShownText] = []
    for line in text.split(separator: "\n") {
      if line.hasPrefix(" ") || line.hasPrefix("}") {
        guard let last = found.indices.last else { continue }
        found[last] += " " + ShownText(line.drop { $0 == " " }, as: .proto)
        continue
      }
      // The name of an extension is in brackets in the text format, and in parentheses in a `.proto` file.
      var (name, rest): (Substring, Substring)
      if line.hasPrefix("["), let end = line.firstIndex(of: "]") {
        (name, rest) = (line[line.index(after: line.startIndex)..<end], line[line.index(after: end)...])
        name = "(\(name))"
      } else {
        name = line.prefix { $0 != ":" && $0 != " " }
        rest = line.dropFirst(name.count)
      }
      let value = rest.drop { $0 == ":" || $0 == " " }
      found.append("\(name) = \(ShownText(value, as: .proto))")
    }
    return found
  }
}
