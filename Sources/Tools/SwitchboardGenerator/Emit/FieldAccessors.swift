/// The property of one field and, if the field has presence, its `has` and `clear`. They read and change the slot of the
/// field in the message's storage.
struct FieldAccessors {
  let context: FileContext
  let field: FieldSchema

  /// The declarations, one per line.
  var lines: [String] {
    let modifiers = context.options.visibility.accessorModifiers
    let names = field.names
    let type = context.propertyType(of: field)
    // A value without heap storage gains nothing from modification in place, and a setter is shorter.
    let change =
      field.isTrivial ? "set { \(slot) = newValue }" : "_modify { yield &\(slotWithDefault) }"
    let property = "\(modifiers)var \(names.property): \(type) { get { \(slotWithDefault) } \(change) }"
    guard field.hasCompanions else { return [property] }
    return [
      property,
      "\(modifiers)var \(names.has): Bool { _storage.has(\(presence)) }",
      "\(modifiers)mutating func \(names.clear)() { _storage.clear(\(field.number)) }",
    ]
  }

  /// The value of the field in the storage, as an expression that can be assigned to.
  var slot: String { "_storage[\(arguments.joined(separator: ", "))]" }

  /// The same with the default that the field declares, if it declares one.
  private var slotWithDefault: String {
    let declared = context.declaredDefault(of: field).map { ["default: \($0)"] } ?? []
    return "_storage[\((arguments + declared).joined(separator: ", "))]"
  }

  private var arguments: [String] {
    var arguments = [label + "\(field.slot.offset)"]
    if let bit = field.slot.bit { arguments.append("bit: \(bit)") }
    if field.oneof != nil { arguments.append("member: \(field.number)") }
    return arguments
  }

  private var label: String {
    switch (field.shape, field.type) {
    case (.repeated, _): "array: "
    case (.map, _): "map: "
    case (_, .message): "message: "
    case (_, .enumeration): "enum: "
    case (_, .scalar(.string)), (_, .scalar(.uncheckedString)): "string: "
    case (_, .scalar(.bytes)): "bytes: "
    case (_, .scalar): ""
    }
  }

  /// What shows that the field is set: a bit, or its slot.
  private var presence: String {
    if let bit = field.slot.bit { return "bit: \(bit)" }
    switch field.type {
    case .scalar(.string), .scalar(.uncheckedString): return "string: \(field.slot.offset)"
    case .scalar, .enumeration, .message: return "reference: \(field.slot.offset)"
    }
  }
}
