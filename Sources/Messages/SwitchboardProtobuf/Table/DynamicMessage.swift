/// A message whose type was described at run time, by a ``MessageTable``.
///
///     var order = DynamicMessage(try pool.messageType(named: "shop.Order"))
///     try order.set("customer", to: .string("Ada"))
///     let text = try order.jsonString()
///
/// It is a value like a generated message: copies share storage until one is changed. It reads and writes the same
/// bytes, JSON and text as the message that is generated from the same descriptor. Extensions in the table are fields;
/// their names are their full names in brackets.
public struct DynamicMessage: Hashable, Sendable {
  var storage: MessageStorage

  init(_ storage: MessageStorage) { self.storage = storage }

  /// A message in which nothing is set.
  public init(_ type: MessageTable) { storage = MessageStorage(type.data) }

  /// The type of the message.
  public var type: MessageTable { MessageTable(storage.table) }

  /// The fields on the wire that the type does not know.
  public var unknownFields: UnknownFields {
    get { storage.unknownFields }
    _modify { yield &storage.unknownFields }
  }

  /// Whether every `required` field is set, in this message and in all messages in it.
  public var isInitialized: Bool { storage.isInitialized }

  // MARK: Fields

  /// The value of the field with a name, or its default value if it is not set. Nil if it is a message, a repeated field
  /// or a map that is not set, or if there is no such field.
  public subscript(name: String) -> DynamicValue? { type.field(named: name).flatMap { self[$0.number] } }

  /// The value of the field with a number, or its default value, as for a name.
  public subscript(number: Int32) -> DynamicValue? {
    let table = storage.table
    guard let index = table.index(of: number) else { return nil }
    return storage.value(index) ?? table.details.fields[index].defaultValue
  }

  /// Whether the field with a name is set. A field without presence is set if it does not have its default value.
  public func has(_ name: String) -> Bool {
    let table = storage.table
    return table.index(ofName: name).map { storage.isSet(table.entries[$0]) } ?? false
  }

  /// Sets the field with a name. Throws if there is no such field or the value does not fit its type.
  public mutating func set(_ name: String, to value: DynamicValue) throws(DynamicFieldError) {
    try set(at: try index(of: name), name, to: value)
  }

  /// The same for a field of the type, without a search for its name.
  package mutating func set(_ field: TableField, to value: DynamicValue) throws(DynamicFieldError) {
    guard let index = storage.table.index(of: field.number) else { return try set(field.name, to: value) }
    try set(at: index, field.name, to: value)
  }

  private mutating func set(at index: Int, _ name: String, to value: DynamicValue) throws(DynamicFieldError) {
    if let given = storage.set(index, to: value) { throw mismatch(storage.table.entries[index], given, name) }
  }

  /// Makes the field with a name unset.
  public mutating func clear(_ name: String) throws(DynamicFieldError) {
    storage.clear(storage.table.entries[try index(of: name)])
  }

  /// Changes the message in a field in place. If the field is not set, changes a new message.
  public mutating func modify(
    _ name: String,
    _ change: (inout DynamicMessage) throws(DynamicFieldError) -> Void
  ) throws(DynamicFieldError) {
    let table = storage.table
    let entry = table.entries[try index(of: name)]
    guard entry.type.isMessage, entry.shape == .singular || entry.shape == .oneof else {
      throw mismatch(entry, "message", name)
    }
    let expected = table.message(of: entry)
    var value = DynamicMessage(storage.take(entry, as: MessageStorage.self) ?? MessageStorage(expected))
    defer {
      // A caller may have assigned a message of another type.
      if value.storage.table == expected { storage.put(value.storage, in: entry) }
    }
    try change(&value)
    guard value.storage.table == expected else {
      throw mismatch(entry, DynamicValue.message(value).kind, name)
    }
  }

  private func mismatch(_ entry: TableEntry, _ given: String, _ name: String) -> DynamicFieldError {
    let table = storage.table
    let reason = DynamicFieldError.Reason.mismatchedValue(expected: table.kindOfValue(entry), given: given)
    return DynamicFieldError(reason, in: table, name)
  }

  private func index(of name: String) throws(DynamicFieldError) -> Int {
    let table = storage.table
    guard let index = table.index(ofName: name) else {
      throw DynamicFieldError(.unknownField, in: table, name)
    }
    return index
  }
}

extension DynamicMessage: CustomDebugStringConvertible, CustomReflectable {
  /// The name of the type, and the fields in the text format.
  public var debugDescription: String { "\(type.fullName):\n" + textFormatString() }

  /// The fields that are set, by their names.
  public var customMirror: Mirror { storage.mirror(of: self) }
}

/// Why a field of a ``DynamicMessage`` could not be changed.
public struct DynamicFieldError: Error, Hashable, Sendable, CustomStringConvertible {
  /// What was wrong.
  public enum Reason: Hashable, Sendable {
    /// The type has no such field.
    case unknownField
    /// The value does not fit the field. Both kinds are named after the cases of ``DynamicValue``, with the type of a
    /// message.
    case mismatchedValue(expected: String, given: String)
  }

  /// What was wrong.
  public let reason: Reason
  /// The full name of the message's type.
  public let messageName: String
  /// The name that the caller gave.
  public let fieldName: String

  init(_ reason: Reason, in table: TableData, _ name: String) {
    self.reason = reason
    messageName = table.fullName
    fieldName = name
  }

  /// The reason in words.
  public var description: String {
    switch reason {
    case .unknownField: "\(messageName) has no field \"\(fieldName)\""
    case .mismatchedValue(let expected, let given):
      "\(messageName).\(fieldName) takes \(expected), not \(given)"
    }
  }
}
