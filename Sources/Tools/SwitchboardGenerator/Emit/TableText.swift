/// The fields of a message in the compact form that the runtime makes its table from, and the types that it names.
///
/// A token describes a field: its number, its type, what holds how many of its values, and its names.
struct TableText {
  /// The tokens, separated by spaces.
  private(set) var text = ""
  /// The types that tokens refer to by their index.
  private(set) var types: [String] = []

  private let context: FileContext
  private let message: MessageSchema
  private var indices: [String: Int] = [:]

  init(of message: MessageSchema, in context: FileContext) {
    self.context = context
    self.message = message
    var tokens = flags.isEmpty ? [] : ["+" + flags]
    for field in message.fields.sorted(by: { $0.number < $1.number }) {
      let link = link(field.type)
      tokens.append(
        "\(field.number)\(letter(of: field.type))\(link)\(modifier(of: field)):\(CompactNames.names(of: field))"
      )
    }
    if let reserved = CompactNames.reserved(in: message) { tokens.append(reserved) }
    text = tokens.joined(separator: " ")
  }

  private var flags: String {
    (message.isExtensible ? "x" : "") + (message.isMessageSet ? "M" : "")
      + (message.canBeUninitialized ? "r" : "")
  }

  private func letter(of type: FieldSchema.ValueType) -> String {
    switch type {
    case .scalar(let scalar): scalar.letter
    case .enumeration: "e"
    case .message(_, let isDelimited): isDelimited ? "p" : "m"
    }
  }

  /// The index of an enum or a message, which is added if it is new.
  private mutating func link(_ type: FieldSchema.ValueType) -> String {
    if case .scalar = type { return "" }
    let name = context.valueType(type)
    if let index = indices[name] { return "\(index)" }
    indices[name] = types.count
    types.append(name)
    return "\(types.count - 1)"
  }

  private func modifier(of field: FieldSchema) -> String {
    switch field.shape {
    case .implicit: ""
    case .explicit: "?"
    case .required: "!"
    case .repeated(let isPacked): isPacked ? "#" : "*"
    case .map(let key): "<\(key.letter)"
    case .oneof(let oneof): "@\(message.oneofs[oneof].slot.index)"
    }
  }
}
