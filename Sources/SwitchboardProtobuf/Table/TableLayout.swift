/// Assigns each field of a message its slot.
///
/// An object starts with the header of every Swift object (16 bytes), the table (8), the unknown fields (8) and the
/// presence bits in words of four bytes. The slots follow, the widest first, so that all are aligned. A oneof has 16
/// bytes for the value of any member, and the number of the member that is set. Generated code has the offsets in its
/// accessors: whoever changes the layout renames the argument of the initializer in `TableData+Generated.swift`.
package struct TableLayout {
  static let header = 32
  /// How many fields, and how many oneofs, a message may have. Larger ones would let a few bytes of input allocate too
  /// much.
  static let maximumFields = 16_384
  /// The largest object, for the same reason: an element of a repeated field may take two bytes of input.
  static let maximumSize = 160 * 1024

  private(set) var entries: [TableEntry.Contents] = []
  private(set) var references: [TableReference] = []
  private(set) var extensionsOffset = 0
  private(set) var fields: [TableSchema.Field]
  private(set) var size = TableLayout.header
  private var offsets: [Int]

  /// The layout of a message without fields.
  init() {
    fields = []
    offsets = []
  }

  package init(_ schema: TableSchema) throws(TableError) {
    fields = schema.fields.sorted { $0.number < $1.number }
    // A oneof takes memory even without members.
    guard max(fields.count, schema.oneofs.count) <= TableLayout.maximumFields else { throw .tooManyFields }
    for (left, right) in zip(fields, fields.dropFirst()) where left.number == right.number {
      throw .duplicateNumber(left.number)
    }
    offsets = Array(repeating: 0, count: fields.count)
    let bits = fields.count { TableLayout.hasBit($0) }
    size += (bits + 31) / 32 * 4
    size = (size + 7) & ~7
    if schema.isExtensible {
      extensionsOffset = size
      references.append(TableReference(kind: .word, offset: size))
      size += 8
    }
    placeOneofs(schema.oneofs.count)
    for width in [16, 8, 4, 1] { place(width) }
    size = (size + 7) & ~7
    guard size <= TableLayout.maximumSize else { throw .tooManyFields }
    makeEntries()
  }

  private static func hasBit(_ field: TableSchema.Field) -> Bool {
    !field.isRepeated && field.oneof == nil && field.presence != .implicit && field.type.isPackable
  }

  private mutating func placeOneofs(_ count: Int) {
    let start = size
    for (index, field) in fields.enumerated() {
      guard let oneof = field.oneof else { continue }
      offsets[index] = start + 24 * oneof
    }
    size += 24 * count
    for oneof in 0..<count { references.append(TableReference(kind: .oneof, offset: start + 24 * oneof)) }
  }

  private mutating func place(_ width: Int) {
    for (index, field) in fields.enumerated() where field.oneof == nil {
      guard (field.isRepeated ? 8 : field.type.width) == width else { continue }
      offsets[index] = size
      size += width
      if field.isRepeated, field.mapKey == nil, field.type == .string {
        references.append(TableReference(kind: .strings, offset: offsets[index]))
      } else if field.isRepeated || !field.type.isPackable {
        references.append(TableReference(kind: width == 16 ? .string : .word, offset: offsets[index]))
      }
    }
  }

  private mutating func makeEntries() {
    var bit = 0
    for (index, field) in fields.enumerated() {
      var presence = TableEntry.Presence.implicit
      if TableLayout.hasBit(field) {
        presence = .bit
      } else if field.presence != .implicit || field.type.isMessage || field.oneof != nil {
        presence = .optional
      }
      let isPacked = field.isPacked && field.type.isPackable
      let isDelimited = field.mapKey != nil || field.isRepeated && isPacked
      let wireType = isDelimited ? .lengthDelimited : field.type.wireType
      entries.append(
        TableEntry.Contents(
          key: Tag(number: field.number, wireType),
          slot: Int32(truncatingIfNeeded: offsets[index]),
          link: Int32(truncatingIfNeeded: field.link ?? index),
          bit: UInt16(truncatingIfNeeded: presence == .bit ? bit : 0),
          type: field.type,
          shape: field.mapKey != nil
            ? .map : field.isRepeated ? .repeated : field.oneof != nil ? .oneof : .singular,
          presence: presence,
          keyType: field.mapKey ?? .string,
          isPacked: isPacked,
          isRequired: field.presence == .required,
          isExtension: field.isExtension,
          checksUTF8: field.checksUTF8,
          tag: EncodedTag(field.number, wireType)
        )
      )
      if presence == .bit { bit += 1 }
    }
  }

  /// Where a field is: its slot in bytes from the address of the object, and its presence bit, if it has one.
  package func place(of number: Int32) -> (offset: Int, bit: Int?)? {
    var (low, high) = (0, entries.count)
    while low < high {
      let middle = low + (high - low) / 2
      if entries[middle].key.number < number { low = middle + 1 } else { high = middle }
    }
    guard low < entries.count, entries[low].key.number == number else { return nil }
    return (offsets[low], entries[low].presence == .bit ? Int(entries[low].bit) : nil)
  }
}
