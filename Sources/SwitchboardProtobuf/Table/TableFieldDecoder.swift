/// A format that fields of messages with tables can be read from.
///
/// The types of such messages and enums are values, so they are announced before the field is read.
protocol TableFieldDecoder: FieldDecoder {
  /// The table of the messages that the next field holds.
  var fieldTable: TableData? { get set }
  /// The enum that the next field holds.
  var fieldEnum: EnumTable? { get set }
}

extension JSONMessageDecoder: TableFieldDecoder {
  var fieldEnum: EnumTable? {
    get { reader.enumTable }
    set { reader.enumTable = newValue }
  }
}

extension TextFormatDecoder: TableFieldDecoder {
  var fieldEnum: EnumTable? {
    get { reader.enumTable }
    set { reader.enumTable = newValue }
  }
}

// What formats ask of a type, they ask of the value here: all messages with tables have the same type.
extension Message {
  /// A message in which nothing is set: of `table`, if this type is that of messages with tables.
  static func empty(of table: TableData?) -> Self {
    guard Self.self == TableMessage.self, let table, let message = TableMessage(table) as? Self else {
      return Self()
    }
    return message
  }

  /// Whether `null` is a value of the type, which is that of `table` if messages of this type have tables.
  static func acceptsJSONNull(_ table: TableData?) -> Bool {
    Self.self == TableMessage.self ? table?.form?.type.acceptsJSONNull ?? false : acceptsJSONNull
  }

  /// The table of a message that has one.
  var tableIfAny: TableData? { Self.self == TableMessage.self ? (self as? TableMessage)?.table : nil }

  /// The names of the fields.
  var fieldNamesOfValue: FieldNames { tableIfAny?.names ?? Self.fieldNames }

  /// The full name of the type.
  var messageNameOfValue: String { tableIfAny?.fullName ?? Self.protoMessageName }
}
