// unsafe: memory that never changes after it was made, owned by its table

/// One field of a table: a pointer into immutable memory.
///
/// It is a pointer, because the formats pass fields from function to function, and would copy the contents each time.
struct TableEntry: @unchecked Sendable {
  let address: UnsafePointer<Contents>

  enum Shape: UInt8 {
    case singular
    case oneof
    case repeated
    case map
  }

  /// How a field shows that it is set, outside of oneofs.
  enum Presence: UInt8 {
    /// The value differs from the default.
    case implicit
    /// The slot contains an optional that is not nil. Members of oneofs have this value too.
    case optional
    /// A bit of the object is set.
    case bit
  }

  /// What is true of a field: a byte, so that an entry has 32.
  struct Flags: OptionSet {
    let rawValue: UInt8

    static let packed = Flags(rawValue: 1)
    static let required = Flags(rawValue: 2)
    static let `extension` = Flags(rawValue: 4)
    static let checksUTF8 = Flags(rawValue: 8)
  }

  /// The memory behind the pointer.
  struct Contents {
    let key: Tag
    let number: Int32
    let slot: Int32
    let link: Int32
    let bit: UInt16
    let type: FieldType
    let shape: Shape
    let presence: Presence
    let keyType: FieldType
    let flags: Flags
    let tag: EncodedTag
  }

  /// The tag that precedes the field in binary; for a repeated field that is packed, the one of all values. An extension
  /// of a MessageSet may have a number that no tag holds: its key matches no tag.
  @inline(__always) var key: Tag { address.pointee.key }
  /// The same, encoded.
  @inline(__always) var tag: EncodedTag { address.pointee.tag }
  @inline(__always) var number: Int32 { address.pointee.number }
  /// The slot, in bytes from the address of the object.
  @inline(__always) var offset: Int { Int(address.pointee.slot) }
  /// The index of the message or enum among the links of the table, or -1.
  @inline(__always) var link: Int32 { address.pointee.link }
  /// The bit, if `presence` is that.
  @inline(__always) var bit: UInt16 { address.pointee.bit }
  @inline(__always) var type: FieldType { address.pointee.type }
  @inline(__always) var shape: Shape { address.pointee.shape }
  @inline(__always) var presence: Presence { address.pointee.presence }
  /// The type of a map's keys.
  @inline(__always) var keyType: FieldType { address.pointee.keyType }
  @inline(__always) var isPacked: Bool { address.pointee.flags.contains(.packed) }
  @inline(__always) var isRequired: Bool { address.pointee.flags.contains(.required) }
  @inline(__always) var isExtension: Bool { address.pointee.flags.contains(.extension) }
  @inline(__always) var checksUTF8: Bool { address.pointee.flags.contains(.checksUTF8) }
  /// The type that reads and writes the values in the formats, as ``FieldType/scalar(checksUTF8:)`` says.
  var scalarType: any ScalarType.Type { type.scalar(checksUTF8: checksUTF8) }

  /// The next entry of the table; after the last field, an entry that matches no tag.
  @inline(__always) var next: TableEntry { TableEntry(address: address + 1) }
}

/// The fields of a table, in the order of their numbers.
struct TableEntries: RandomAccessCollection {
  let first: TableEntry
  let count: Int

  /// Makes entries that live until ``deallocate()`` is called.
  init(_ contents: [TableEntry.Contents]) {
    let address = UnsafeMutablePointer<TableEntry.Contents>.allocate(capacity: contents.count + 1)
    for (index, entry) in (contents + [.end]).enumerated() { (address + index).initialize(to: entry) }
    first = TableEntry(address: address)
    count = contents.count
  }

  func deallocate() { first.address.deallocate() }

  @inline(__always) var startIndex: Int { 0 }
  @inline(__always) var endIndex: Int { count }
  @inline(__always) subscript(index: Int) -> TableEntry { TableEntry(address: first.address + index) }
}

extension TableEntry.Contents {
  /// The entry after the last field.
  static var end: TableEntry.Contents {
    TableEntry.Contents(
      key: .none,
      number: 0,
      slot: 0,
      link: -1,
      bit: 0,
      type: .message,
      shape: .singular,
      presence: .implicit,
      keyType: .string,
      flags: [],
      tag: EncodedTag(0, .varint)
    )
  }
}
