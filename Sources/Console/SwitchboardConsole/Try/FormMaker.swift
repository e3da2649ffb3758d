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
  /// The most of a form, in bytes, but for what surrounds its texts.
  static let mostBytes = 1 << 20
  private static let mostRules = 20

  private typealias Declared = (field: Google_Protobuf_FieldDescriptorProto, path: [Int32])

  /// What the fields of a type have in common.
  private struct Source {
    let type: MessageTable
    let oneofs: [String]
    var declared: [Int32: Declared] = [:]
    var comments: Comments?
    /// The type of fields' options, if extensions of it are known.
    var options: MessageTable?
  }

  /// The form of a type. Without one of this name, it has no name.
  func form(of name: String) -> Switchboard_Console_V1_FormView {
    var form = Switchboard_Console_V1_FormView()
    guard let type = schema.pool.messageType(named: name) else {
      form.remark = "Its type is not known: \(name.excerpt)"
      return form
    }
    form.name = type.fullName
    var source = Source(type: type, oneofs: type.oneofs)
    if let (message, symbol) = schema.message(named: name) {
      let all = Comments(schema.files[symbol.file])
      form.comment = all.text(at: symbol.path)
      for (index, field) in message.field.enumerated() {
        let path = symbol.path + [SymbolIndex.Number.messageField, Int32(truncatingIfNeeded: index)]
        source.declared[field.number] = (field, path)
      }
      source.comments = all
    }
    source.options = schema.pool.messageType(named: "google.protobuf.FieldOptions")
    if source.options?.fields.contains(where: \.isExtension) == false { source.options = nil }
    fill(&form, from: source)
    return form
  }

  /// Adds the fields and the choices that there is room for.
  private func fill(_ form: inout Switchboard_Console_V1_FormView, from source: Source) {
    var room = Self.mostBytes
    let fields = source.type.fields
    for field in fields.prefix(Self.mostFields) {
      let shown = self.field(field, of: source)
      room -= shown.size
      if room < 0 { break }
      form.fields.append(shown)
    }
    var known: Set<ExactText> = []
    var cut = 0
    for index in form.fields.indices where form.fields[index].kind == .enum {
      let type = form.fields[index].type
      guard known.insert(ExactText(type)).inserted, let values = schema.enumeration(named: type)?.value else {
        continue
      }
      for value in values.prefix(Self.mostChoices) {
        room -= value.name.utf8.count + 32
        if room < 0 { break }
        form.fields[index].choices.append(.with { ($0.name, $0.number) = (value.name, value.number) })
      }
      if form.fields[index].choices.count < values.count { cut += 1 }
    }
    let leftOut = fields.count - form.fields.count
    if leftOut > 0 || cut > 0 {
      form.remark =
        "The form would be too large: it lacks \(leftOut) fields, and names of \(cut) enums. The JSON may have them."
    }
  }

  private func field(_ field: TableField, of source: Source) -> Switchboard_Console_V1_FormField {
    let type = source.type
    var shown = Switchboard_Console_V1_FormField()
    (shown.name, shown.jsonName) = (field.name, field.jsonName)
    shown.kind = field.type.kind
    shown.type =
      type.message(of: field)?.fullName ?? type.enumeration(of: field)?.fullName ?? field.type.keyword
    shown.isRepeated = field.isRepeated
    shown.mapKey = field.mapKey?.keyword ?? ""
    shown.isRequired = field.isRequired
    guard let declared = source.declared[field.number] else { return shown }
    let oneofs = source.oneofs
    if let index = field.oneof, oneofs.indices.contains(index), !declared.field.proto3Optional {
      shown.oneof = oneofs[index]
    }
    if declared.field.hasDefaultValue {
      shown.defaultValue = declared.field.defaultValue.start(Self.mostText)
    }
    shown.isDeprecated = declared.field.options.deprecated
    shown.rules = rules(declared.field, source.options)
    shown.comment = source.comments?.text(at: declared.path) ?? ""
    return shown
  }

  /// The options of a field that are extensions of the options, such as those of validators: known if the schema has the
  /// files that declare them.
  private func rules(_ field: Google_Protobuf_FieldDescriptorProto, _ table: MessageTable?) -> [String] {
    guard field.hasOptions, let table,
      let bytes: [UInt8] = try? field.options.serializedBytes(),
      let options = try? DynamicMessage(table, serializedBytes: bytes)
    else { return [] }
    var format = TextFormatEncodingOptions()
    format.printUnknownFields = false
    format.typeRegistry = schema.types
    var rules: [String] = []
    var isRule = false
    // Names of enums may be much longer than what stands for them.
    let text = options.textFormatStart(Self.mostRules * Self.mostText, options: format)
    for line in text.utf8.split(separator: UInt8(ascii: "\n")) {
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
    return rules.prefix(Self.mostRules).map { $0.start(Self.mostText) }
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

extension Switchboard_Console_V1_FormField {
  /// About how many bytes it takes.
  fileprivate var size: Int {
    let texts = [name, jsonName, type, mapKey, oneof, defaultValue, comment] + rules
    return texts.reduce(100) { $0 + $1.utf8.count }
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
