internal import SwitchboardSchema

/// The slots of a message's fields (``SlotLayout``), in the form that a table needs.
struct TableLayout {
  private(set) var entries: [TableEntry.Contents] = []
  private(set) var references: [TableReference] = []
  private(set) var extensionsOffset = 0
  private(set) var fields: [TableSchema.Field]
  private(set) var size = SlotLayout.header

  /// The layout of a message without fields.
  init() { fields = [] }

  init(_ schema: TableSchema) throws(TableError) {
    fields = schema.fields.sorted { $0.number < $1.number }
    let layout = try TableLayout.slots(of: fields, in: schema)
    size = layout.size
    if let offset = layout.extensionsOffset {
      extensionsOffset = offset
      references.append(TableReference(kind: .other, offset: offset))
    }
    for oneof in schema.oneofs.indices {
      let offset = layout.oneofsOffset + SlotLayout.oneofWidth * oneof
      references.append(TableReference(kind: .oneof, offset: offset))
    }
    for (field, slot) in zip(fields, layout.slots).sorted(by: { $0.1.offset < $1.1.offset }) {
      guard field.oneof == nil, field.isRepeated || !field.type.isPackable else { continue }
      references.append(TableReference(kind: TableLayout.kind(of: field), offset: slot.offset))
    }
    entries = zip(fields, layout.slots).enumerated().map { index, field in
      TableLayout.entry(for: field.0, in: field.1, at: index)
    }
  }

  private static func kind(of field: TableSchema.Field) -> TableReference.Kind {
    if field.mapKey != nil { return .other }
    switch field.type {
    case .message, .group: return field.isRepeated ? .messages : .message
    case .string: return field.isRepeated ? .strings : .string
    case .bytes: return field.isRepeated ? .other : .flat
    default: return .flat
    }
  }

  private static func slots(
    of fields: [TableSchema.Field],
    in schema: TableSchema
  ) throws(TableError) -> SlotLayout {
    let fields = fields.map { field in
      SlotLayout.Field(
        number: field.number,
        width: field.isRepeated ? 8 : field.type.width,
        hasBit: !field.isRepeated && field.oneof == nil && field.presence != .implicit
          && field.type.isPackable,
        oneof: field.oneof
      )
    }
    do throws(SlotLayout.Failure) {
      return try SlotLayout(fields, oneofs: schema.oneofs.count, isExtensible: schema.isExtensible)
    } catch {
      switch error {
      case .duplicateNumber(let number): throw .duplicateNumber(number)
      case .tooManyFields: throw .tooManyFields
      }
    }
  }

  private static func entry(
    for field: TableSchema.Field,
    in slot: SlotLayout.Slot,
    at index: Int
  ) -> TableEntry.Contents {
    var presence = TableEntry.Presence.implicit
    if slot.bit != nil {
      presence = .bit
    } else if field.presence != .implicit || field.type.isMessage || field.oneof != nil {
      presence = .optional
    }
    let isPacked = field.isPacked && field.type.isPackable
    let isDelimited = field.mapKey != nil || field.isRepeated && isPacked
    let wireType = isDelimited ? .lengthDelimited : field.type.wireType
    var flags: TableEntry.Flags = []
    if isPacked { flags.insert(.packed) }
    if field.presence == .required { flags.insert(.required) }
    if field.isExtension { flags.insert(.extension) }
    if field.checksUTF8 { flags.insert(.checksUTF8) }
    return TableEntry.Contents(
      key: field.number <= Tag.largestNumber ? Tag(number: field.number, wireType) : .none,
      number: field.number,
      slot: Int32(truncatingIfNeeded: slot.offset),
      link: Int32(truncatingIfNeeded: field.link ?? index),
      bit: UInt16(truncatingIfNeeded: slot.bit ?? 0),
      type: field.type,
      shape: field.mapKey != nil
        ? .map : field.isRepeated ? .repeated : field.oneof != nil ? .oneof : .singular,
      presence: presence,
      keyType: field.mapKey ?? .string,
      flags: flags,
      tag: EncodedTag(field.number, wireType)
    )
  }
}
