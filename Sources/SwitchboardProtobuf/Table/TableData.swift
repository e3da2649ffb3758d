/// One field of a table.
struct TableEntry {
  enum Shape: UInt8 {
    case singular
    case oneof
    case repeated
    case map
  }

  /// How a field that is not a member of a oneof shows that it is set.
  enum Presence: Equatable {
    /// Its value differs from the default: there is no other sign.
    case implicit
    /// The slot holds an optional, which is not nil.
    case optional
    /// A bit of the object.
    case bit(Int)
  }

  let number: Int32
  let type: FieldType
  let shape: Shape
  let isPacked: Bool
  let isRequired: Bool
  let isExtension: Bool
  let checksUTF8: Bool
  /// The type of a map's keys.
  let keyType: FieldType
  let presence: Presence
  /// The slot, in bytes from the address of the object.
  let offset: Int
  /// The index of the table of a message, among all tables of the set.
  let message: Int?
}

/// What of an object refers to something else, and thus takes part in copying and destroying it.
struct TableReference {
  enum Kind {
    /// Any reference of one word: a message, an array, a dictionary.
    case word
    case string
    case oneof
  }

  let kind: Kind
  let offset: Int
}

/// The layout of an object and the fields of its message. Never changed after it was made.
///
/// An object refers to its table by this class without owning it; it owns the ``TableSet``, which owns all tables.
final class TableData: Sendable {
  /// The fields in the order of their numbers.
  let entries: [TableEntry]
  /// How many fields have the numbers 1, 2, 3 and so on.
  let dense: Int
  /// The size of an object, in bytes.
  let size: Int
  let references: [TableReference]
  let isMessageSet: Bool
  /// Whether a field that is required is in this message or in one that it may hold.
  let needsInitialization: Bool
  let form: WellKnownForm?

  let fullName: String
  let names: FieldNames
  let oneofs: [String]
  /// What is needed less often of the fields, in the same order.
  let fields: [TableField]
  let enums: [EnumTable?]
  let numbersByName: [String: Int32]

  private unowned(unsafe) let owner: TableSet

  init(_ layout: TableLayout, schema: TableSchema, needsInitialization: Bool, owner: TableSet) {
    entries = layout.entries
    dense = layout.entries.enumerated().prefix { Int($1.number) == $0 + 1 }.count
    size = layout.size
    references = layout.references
    isMessageSet = schema.isMessageSet
    self.needsInitialization = needsInitialization
    form = WellKnownForm(messageName: schema.fullName)
    fullName = schema.fullName
    names = FieldNames(layout.fields, reserved: schema.reservedNames)
    oneofs = schema.oneofs
    fields = layout.fields.map(TableField.init)
    enums = layout.fields.map(\.enumeration)
    numbersByName = Dictionary(layout.fields.map { ($0.name, $0.number) }) { first, _ in first }
    self.owner = owner
  }

  /// The set that keeps this table; it lives as long as any object with the table, or any handle of it.
  var set: TableSet { owner }

  /// The index of the field with a number.
  @inline(__always)
  func index(of number: Int32) -> Int? {
    let index = Int(number) &- 1
    if index >= 0, index < dense { return index }
    return search(number)
  }

  private func search(_ number: Int32) -> Int? {
    var (low, high) = (dense, entries.count)
    while low < high {
      let middle = low + (high - low) / 2
      if entries[middle].number < number { low = middle + 1 } else { high = middle }
    }
    return low < entries.count && entries[low].number == number ? low : nil
  }

  /// The table of the message that a field holds.
  func message(of entry: TableEntry) -> TableData { set.tables[entry.message ?? 0] }
}
