/// Reads the fields of a generated message from their compact form, without the names: see `TableData+Generated.swift`.
///
/// The form is one literal, because a table of literals would slow down every build and enlarge every program.
struct TableText {
  private(set) var schema = TableSchema(fullName: "")
  private(set) var needsInitialization = false

  init(_ text: StaticString) {
    for var token in Array(text.description.utf8).split(separator: UInt8(ascii: " ")) {
      if token.first == UInt8(ascii: "+") { flags(token.dropFirst()) } else { field(&token) }
    }
    schema.oneofs = Array(repeating: "", count: (schema.fields.compactMap(\.oneof).max() ?? -1) + 1)
  }

  private mutating func flags(_ letters: some Sequence<UInt8>) {
    for letter in letters {
      switch letter {
      case UInt8(ascii: "x"): schema.isExtensible = true
      case UInt8(ascii: "M"): (schema.isExtensible, schema.isMessageSet) = (true, true)
      case UInt8(ascii: "r"): needsInitialization = true
      default: break
      }
    }
  }

  /// Reads `NUMBER TYPE LINK MODIFIERS`, up to the colon before the name.
  private mutating func field(_ token: inout ArraySlice<UInt8>) {
    guard let number = TableText.number(&token), number != 0, let letter = token.popFirst(),
      let (type, checksUTF8) = TableText.type(letter)
    else { return }
    var field = TableSchema.Field(name: "", number: Int32(truncatingIfNeeded: number), type: type)
    field.checksUTF8 = checksUTF8
    field.link = TableText.number(&token)
    while let modifier = token.popFirst(), modifier != UInt8(ascii: ":") {
      switch modifier {
      case UInt8(ascii: "?"): field.presence = .explicit
      case UInt8(ascii: "!"): field.presence = .required
      case UInt8(ascii: "*"): field.isRepeated = true
      case UInt8(ascii: "#"): (field.isRepeated, field.isPacked) = (true, true)
      case UInt8(ascii: "@"): field.oneof = TableText.number(&token)
      case UInt8(ascii: "<"):
        guard let key = token.popFirst().flatMap(TableText.type) else { return }
        // Keys and values are checked alike: both inherit the feature of the field.
        (field.isRepeated, field.mapKey) = (true, key.0)
        if key.0 == .string { field.checksUTF8 = key.checksUTF8 }
      default: break
      }
    }
    schema.fields.append(field)
  }

  private static func number(_ token: inout ArraySlice<UInt8>) -> Int? {
    var number: Int?
    while let digit = token.first, UInt8(ascii: "0")...UInt8(ascii: "9") ~= digit {
      number = (number ?? 0) &* 10 &+ Int(digit &- UInt8(ascii: "0"))
      token.removeFirst()
    }
    return number
  }

  /// The letters of the types. Capitals are the forms of 64 bits.
  private static func type(_ letter: UInt8) -> (FieldType, checksUTF8: Bool)? {
    switch letter {
    case UInt8(ascii: "i"): (.int32, true)
    case UInt8(ascii: "I"): (.int64, true)
    case UInt8(ascii: "u"): (.uint32, true)
    case UInt8(ascii: "U"): (.uint64, true)
    case UInt8(ascii: "z"): (.sint32, true)
    case UInt8(ascii: "Z"): (.sint64, true)
    case UInt8(ascii: "f"): (.fixed32, true)
    case UInt8(ascii: "F"): (.fixed64, true)
    case UInt8(ascii: "g"): (.sfixed32, true)
    case UInt8(ascii: "G"): (.sfixed64, true)
    case UInt8(ascii: "r"): (.float, true)
    case UInt8(ascii: "R"): (.double, true)
    case UInt8(ascii: "b"): (.bool, true)
    case UInt8(ascii: "s"): (.string, true)
    case UInt8(ascii: "t"): (.string, false)
    case UInt8(ascii: "y"): (.bytes, true)
    case UInt8(ascii: "e"): (.enumeration, true)
    case UInt8(ascii: "m"): (.message, true)
    case UInt8(ascii: "p"): (.group, true)
    default: nil
    }
  }
}
