/// A message type that was described at run time, for a ``DynamicMessage``.
public struct MessageTable: Sendable {
  let data: TableData
  /// Keeps the table, and the tables that it refers to, alive.
  private let set: TableSet?

  init(_ data: TableData) {
    self.data = data
    set = data.set
  }

  /// The full name of the type in its `.proto` file.
  public var fullName: String { data.fullName }

  /// The fields and extensions, in the order of their numbers.
  public var fields: [TableField] { data.details.fields }

  /// The names of the oneofs.
  public var oneofs: [String] { data.details.oneofs }

  /// The field with a name; for an extension, its full name in brackets.
  public func field(named name: String) -> TableField? {
    data.index(ofName: name).map { data.details.fields[$0] }
  }

  /// The field with a number.
  public func field(numbered number: Int32) -> TableField? {
    data.index(of: number).map { data.details.fields[$0] }
  }

  /// The type of the messages that a field holds.
  public func message(of field: TableField) -> MessageTable? {
    guard let index = data.index(of: field.number), data.entries[index].type.isMessage else { return nil }
    return MessageTable(data.message(of: data.entries[index]))
  }

  /// The enum that a field holds.
  public func enumeration(of field: TableField) -> EnumTable? {
    data.index(of: field.number).flatMap { data.enumeration(of: data.entries[$0]) }
  }
}

extension MessageTable: Hashable {
  public static func == (left: MessageTable, right: MessageTable) -> Bool { left.data == right.data }
  public func hash(into hasher: inout Hasher) { hasher.combine(data) }
}

/// A field of a message type that was described at run time.
public struct TableField: Hashable, Sendable {
  /// The name in the `.proto` file; for an extension, its full name in brackets.
  public let name: String
  /// The name in JSON.
  public let jsonName: String
  /// The field number.
  public let number: Int32
  /// The type; for a map, of the values.
  public let type: FieldType
  /// Whether the field has several values, as a map does.
  public let isRepeated: Bool
  /// The type of the keys, if the field is a map.
  public let mapKey: FieldType?
  /// Whether a message must have the field.
  public let isRequired: Bool
  /// Whether the field is an extension.
  public let isExtension: Bool
  /// The index of the oneof that the field is a member of.
  public let oneof: Int?
  /// The value of a field that is not set; nil for messages, repeated fields and maps.
  public let defaultValue: DynamicValue?

  init(_ schema: TableSchema.Field) {
    name = schema.name
    jsonName = schema.jsonName
    number = schema.number
    type = schema.type
    isRepeated = schema.isRepeated
    mapKey = schema.mapKey
    isRequired = schema.presence == .required
    isExtension = schema.isExtension
    oneof = schema.oneof
    defaultValue = schema.isRepeated ? nil : schema.defaultValue ?? DynamicValue(defaultOf: schema)
  }
}
