import SwitchboardSchema

/// Finds where messages keep the values of their fields. The runtime finds the same places with the same
/// layout when it reads the text of a table.
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
    let order = message.fields.indices.sorted { message.fields[$0].number < message.fields[$1].number }
    let layout = try layout(
      of: order.map { slotField(message.fields[$0], in: message) },
      in: message,
      oneofs.count
    )
    for (index, slot) in zip(order, layout.slots) {
      message.fields[index].slot = slot
      if let oneof = message.fields[index].oneof { message.oneofs[oneof].slot.offset = slot.offset }
    }
  }

  private static func layout(
    of fields: [SlotLayout.Field],
    in message: MessageSchema,
    _ oneofs: Int
  ) throws(GeneratorError) -> SlotLayout {
    do throws(SlotLayout.Failure) {
      return try SlotLayout(fields, oneofs: oneofs, isExtensible: message.isExtensible)
    } catch {
      throw GeneratorError("\(message.fullName): the message has too many fields or oneofs")
    }
  }

  private static func slotField(_ field: FieldSchema, in message: MessageSchema) -> SlotLayout.Field {
    var oneof: Int?
    if let index = field.oneof { oneof = message.oneofs[index].slot.index }
    return SlotLayout.Field(
      number: field.number,
      width: width(of: field),
      hasBit: field.hasCompanions && field.isTrivial,
      oneof: oneof
    )
  }

  /// The bytes that the value of a field takes in an object: all but numbers and strings are references.
  private static func width(of field: FieldSchema) -> Int {
    switch (field.shape, field.type) {
    case (.repeated, _), (.map, _), (_, .message): 8
    case (_, .scalar(let scalar)): scalar.width
    case (_, .enumeration): 4
    }
  }
}
