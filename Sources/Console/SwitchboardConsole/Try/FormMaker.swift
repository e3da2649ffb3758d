import ConsoleMessages
import SwitchboardDescriptors
import SwitchboardDynamic
import SwitchboardProtobuf
import SwitchboardText

/// Makes the forms of message types.
struct FormMaker: Sendable {
  let schema: Schema

  /// The most fields and choices that a form has. Types come from servers.
  static let mostFields = 2_000
  static let mostChoices = 2_000
  /// The most of a comment and of a rule, in bytes.
  static let mostText = 2_000

  private typealias Declared = (field: Google_Protobuf_FieldDescriptorProto, path: [Int32])

  /// The form of a type. Without one of this name, it has no name.
  func form(of name: String) -> Switchboard_Console_V1_FormView {
    var form = Switchboard_Console_V1_FormView()
    guard let type = schema.pool.messageType(named: name) else { return form }
    form.name = type.fullName
    var declared: [Int32: Declared] = [:]
    var comments: Comments?
    if let (message, symbol) = schema.message(named: name) {
      let all = Comments(schema.files[symbol.file])
      form.comment = all.text(at: symbol.path)
      for (index, field) in message.field.enumerated() {
        let path = symbol.path + [SymbolIndex.Number.messageField, Int32(truncatingIfNeeded: index)]
        declared[field.number] = (field, path)
      }
      comments = all
    }
    form.fields = type.fields.prefix(Self.mostFields).map { field in
      self.field(field, of: type, declared[field.number], comments)
    }
    return form
  }

  private func field(
    _ field: TableField,
    of type: MessageTable,
    _ declared: Declared?,
    _ comments: Comments?
  ) -> Switchboard_Console_V1_FormField {
    var shown = Switchboard_Console_V1_FormField()
    (shown.name, shown.jsonName) = (field.name, field.jsonName)
    shown.kind = field.type.kind
    shown.type =
      type.message(of: field)?.fullName ?? type.enumeration(of: field)?.fullName ?? field.type.keyword
    shown.isRepeated = field.isRepeated
    shown.mapKey = field.mapKey?.keyword ?? ""
    shown.isRequired = field.isRequired
    if let enumeration = type.enumeration(of: field) { shown.choices = choices(of: enumeration.fullName) }
    guard let declared else { return shown }
    let oneofs = type.oneofs
    if let index = field.oneof, oneofs.indices.contains(index), !declared.field.proto3Optional {
      shown.oneof = oneofs[index]
    }
    if declared.field.hasDefaultValue {
      shown.defaultValue = declared.field.defaultValue.start(Self.mostText)
    }
    shown.isDeprecated = declared.field.options.deprecated
    shown.rules = rules(declared.field)
    shown.comment = comments?.text(at: declared.path) ?? ""
    return shown
  }

  private func choices(of name: String) -> [Switchboard_Console_V1_EnumChoice] {
    guard let enumeration = schema.enumeration(named: name) else { return [] }
    return enumeration.value.prefix(Self.mostChoices).map { value in
      .with { ($0.name, $0.number) = (value.name, value.number) }
    }
  }

  /// The options of a field that are extensions of the options, such as those of validators: known if the schema has the
  /// files that declare them.
  private func rules(_ field: Google_Protobuf_FieldDescriptorProto) -> [String] {
    guard field.hasOptions, let table = schema.pool.messageType(named: "google.protobuf.FieldOptions"),
      table.fields.contains(where: \.isExtension),
      let bytes: [UInt8] = try? field.options.serializedBytes(),
      let options = try? DynamicMessage(table, serializedBytes: bytes)
    else { return [] }
    var format = TextFormatEncodingOptions()
    format.printUnknownFields = false
    format.typeRegistry = schema.types
    var rules: [String] = []
    var isRule = false
    for line in options.textFormatString(options: format).utf8.split(separator: UInt8(ascii: "\n")) {
      switch line.first {
      case UInt8(ascii: "["):
        isRule = true
        rules.append(String(Substring(line)).withoutBrackets)
      case UInt8(ascii: " "), UInt8(ascii: "}"):
        guard isRule, let last = rules.indices.last else { continue }
        rules[last] += " " + String(Substring(line.drop { $0 == UInt8(ascii: " ") }))
      default: isRule = false
      }
    }
    return rules.prefix(20).map { $0.start(Self.mostText) }
  }
}

extension Comments {
  /// The comments before and after a declaration.
  func text(at path: [Int32]) -> String {
    guard let pair = self[path] else { return "" }
    return [pair.leading, pair.trailing].filter { !$0.isEmpty }.joined(separator: "\n").start(
      FormMaker.mostText
    )
  }
}

extension String {
  /// Its first bytes, up to a whole character of Unicode.
  func start(_ most: Int) -> String {
    guard utf8.count > most else { return self }
    var end = utf8.index(utf8.startIndex, offsetBy: most)
    while end > utf8.startIndex, utf8[end] & 0xC0 == 0x80 { end = utf8.index(before: end) }
    return String(Substring(utf8[..<end]))
  }

  /// `[google.api.field_behavior]: REQUIRED` without its brackets.
  fileprivate var withoutBrackets: String {
    let bytes = Array(utf8.dropFirst())
    guard let end = bytes.firstIndex(of: UInt8(ascii: "]")) else { return self }
    return String(decoding: bytes[..<end] + bytes[(end + 1)...], as: UTF8.self)
  }
}

extension FieldType {
  fileprivate var kind: Switchboard_Console_V1_FormField.Kind {
    switch self {
    case .int32, .uint32, .sint32, .fixed32, .sfixed32: .integer
    case .int64, .uint64, .sint64, .fixed64, .sfixed64: .long
    case .float, .double: .fraction
    case .bool: .bool
    case .string: .string
    case .bytes: .bytes
    case .enumeration: .enum
    case .message, .group: .message
    }
  }

  /// As a file has it.
  fileprivate var keyword: String {
    switch self {
    case .enumeration: "enum"
    default: "\(self)"
    }
  }
}
