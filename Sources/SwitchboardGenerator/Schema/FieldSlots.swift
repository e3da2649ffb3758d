import SwitchboardProtobuf

/// Finds where messages keep the values of their fields. The runtime decides that, from the same properties of the
/// fields, when it reads the text of a table.
enum FieldSlots {
  /// Assigns the slots of all messages in `schema`.
  static func assign(to schema: inout Schema) throws(GeneratorError) {
    for index in schema.messages.indices where !schema.messages[index].isMapEntry {
      try assign(to: &schema.messages[index])
    }
  }

  private static func assign(to message: inout MessageSchema) throws(GeneratorError) {
    // Oneofs without members were synthesized for optional fields.
    let oneofs = message.oneofs.indices.filter { !message.oneofs[$0].members.isEmpty }
    for (index, oneof) in oneofs.enumerated() { message.oneofs[oneof].slot.index = index }
    let layout = try layout(of: message, oneofs: oneofs.count)
    for index in message.fields.indices {
      guard let slot = layout.place(of: message.fields[index].number) else { continue }
      message.fields[index].slot = FieldSchema.Slot(offset: slot.offset, bit: slot.bit)
      if let oneof = message.fields[index].oneof { message.oneofs[oneof].slot.offset = slot.offset }
    }
  }

  private static func layout(of message: MessageSchema, oneofs: Int) throws(GeneratorError) -> TableLayout {
    var schema = TableSchema(fullName: message.fullName)
    schema.isExtensible = message.isExtensible
    schema.oneofs = Array(repeating: "", count: oneofs)
    schema.fields = message.fields.map { tableField($0, in: message) }
    do throws(TableError) {
      return try TableLayout(schema)
    } catch {
      throw GeneratorError("\(message.fullName): the message has too many fields or oneofs")
    }
  }

  private static func tableField(_ field: FieldSchema, in message: MessageSchema) -> TableSchema.Field {
    var result = TableSchema.Field(name: field.name, number: field.number, type: field.type.fieldType)
    switch field.shape {
    case .implicit: break
    case .explicit: result.presence = .explicit
    case .required: result.presence = .required
    case .oneof(let oneof):
      result.presence = .explicit
      result.oneof = message.oneofs[oneof].slot.index
    case .repeated(let isPacked):
      result.isRepeated = true
      result.isPacked = isPacked
    case .map(let key):
      result.isRepeated = true
      result.mapKey = key.fieldType
    }
    return result
  }
}

extension FieldSchema.ValueType {
  fileprivate var fieldType: FieldType {
    switch self {
    case .scalar(let scalar): scalar.fieldType
    case .enumeration: .enumeration
    case .message(_, let isDelimited): isDelimited ? .group : .message
    }
  }
}
