import SwitchboardText

/// The values of enums in tables, for all formats. A value refers to its enum, whose names the formats write.
enum TableEnum: ScalarType {
  struct Value: Hashable, Sendable {
    let number: Int32
    let type: EnumTable?

    static func == (left: Value, right: Value) -> Bool { left.number == right.number }
    func hash(into hasher: inout Hasher) { hasher.combine(number) }
  }

  static var protoDefault: Value { Value(number: 0, type: nil) }
  static func isInitial(_ value: Value) -> Bool { value.number == 0 }
  static var wireType: WireType { .varint }
  static var isPackable: Bool { true }

  // MARK: Binary

  static func read(from reader: inout WireReader) throws(DecodeError) -> Value? {
    Value(number: Int32(truncatingIfNeeded: try reader.varint()), type: nil)
  }

  static func size(of value: Value) -> Int { ProtoInt32.size(of: value.number) }

  static func write(_ value: Value, to writer: inout WireWriter) {
    ProtoInt32.write(value.number, to: &writer)
  }

  // MARK: JSON

  static var acceptsJSONNull: Bool { false }

  /// Reads the name or number of a value of the enum that the reader's owner announced.
  static func readJSON(from reader: inout JSONReader) throws(DecodeError) -> Value? {
    guard let type = reader.enumTable else { return nil }
    if type.isNullValue, reader.peek() == UInt8(ascii: "n") {
      try reader.expect("null")
      return Value(number: 0, type: type)
    }
    let isName = reader.peek() == UInt8(ascii: "\"")
    let start = reader.position
    let number: Int32?
    if isName {
      number = type.number(of: try reader.string())
    } else {
      let given = try reader.integer(Int32.self, quotes: .forbidden)
      number = type.accepts(given) ? given : nil
    }
    guard number != nil || reader.ignoresUnknown else {
      throw reader.failEnum(type.fullName, at: start)
    }
    return number.map { Value(number: $0, type: type) }
  }

  static func writeJSON(_ value: Value, to writer: inout JSONWriter) {
    if value.type?.isNullValue == true {
      writer.verbatim("null")
    } else if !writer.options.alwaysPrintEnumsAsInts, let name = value.type?.name(of: value.number) {
      writer.string(name)
    } else {
      writer.integer(value.number)
    }
  }

  // MARK: Text

  static func writeText(_ value: Value, to writer: inout TextFormatWriter) {
    writer.literal(value.type?.name(of: value.number) ?? String(value.number))
  }

  static func readText(from reader: inout TextFormatReader) throws(DecodeError) -> Value {
    let position = reader.position
    guard let type = reader.enumTable else { throw reader.error("the field is not an enum", at: position) }
    if let name = reader.identifier() {
      if let number = type.number(of: name) { return Value(number: number, type: type) }
      throw reader.error("\(type.fullName) has no value '\(name)'", at: position)
    }
    let number = try reader.integer(as: Int32.self)
    guard type.accepts(number) else {
      throw reader.error("\(type.fullName) has no value \(number)", at: position)
    }
    return Value(number: number, type: type)
  }
}

/// The same for `google.protobuf.NullValue`, where JSON's `null` is a value.
enum TableNullValue: ScalarType {
  typealias Value = TableEnum.Value

  static var protoDefault: Value { TableEnum.protoDefault }
  static func isInitial(_ value: Value) -> Bool { TableEnum.isInitial(value) }
  static var wireType: WireType { .varint }
  static var isPackable: Bool { true }
  static var acceptsJSONNull: Bool { true }

  static func read(from reader: inout WireReader) throws(DecodeError) -> Value? {
    try TableEnum.read(from: &reader)
  }
  static func size(of value: Value) -> Int { TableEnum.size(of: value) }
  static func write(_ value: Value, to writer: inout WireWriter) { TableEnum.write(value, to: &writer) }
  static func readJSON(from reader: inout JSONReader) throws(DecodeError) -> Value? {
    try TableEnum.readJSON(from: &reader)
  }
  static func writeJSON(_ value: Value, to writer: inout JSONWriter) {
    TableEnum.writeJSON(value, to: &writer)
  }
  static func writeText(_ value: Value, to writer: inout TextFormatWriter) {
    TableEnum.writeText(value, to: &writer)
  }
  static func readText(from reader: inout TextFormatReader) throws(DecodeError) -> Value {
    try TableEnum.readText(from: &reader)
  }
}

extension EnumTable {
  /// Whether the JSON form of the enum is `null`.
  var isNullValue: Bool { fullName.isExactly("google.protobuf.NullValue") }
}
