import SwitchboardText

extension BinaryDecoder {
  /// Reads consecutive entries of a map.
  mutating func map(
    _ entry: TableEntry,
    of table: TableData,
    into message: ObjectSlots
  ) throws(DecodeError) {
    if let type = table.enumType(of: entry) {
      try enumMap(entry, of: table, key: entry.keyType.rareMapKey, value: type, into: message)
    } else {
      switch entry.keyType {
      case .string: try map(entry, of: table, key: String.self, into: message)
      case .int32, .sint32, .sfixed32: try map(entry, of: table, key: Int32.self, into: message)
      case .int64, .sint64, .sfixed64: try map(entry, of: table, key: Int64.self, into: message)
      default: try rareMap(entry, of: table, key: entry.keyType.rareMapKey, into: message)
      }
    }
  }

  // The common key types are specialized for each value type; the others share one implementation.

  @inline(__always)
  private mutating func map<K: MapKeySlot>(
    _ entry: TableEntry,
    of table: TableData,
    key: K.Type,
    into message: ObjectSlots
  ) throws(DecodeError) {
    switch entry.type {
    case .message, .group: try entries(entry, of: table, key, MessageStorage.self, into: message)
    case .string: try entries(entry, of: table, key, String.self, into: message)
    case .bytes: try entries(entry, of: table, key, [UInt8].self, into: message)
    case .bool: try entries(entry, of: table, key, Bool.self, into: message)
    case let type where type.width == 4: try entries(entry, of: table, key, UInt32.self, into: message)
    default: try entries(entry, of: table, key, UInt64.self, into: message)
    }
  }

  @inline(never)
  private mutating func rareMap<K: MapKeySlot>(
    _ entry: TableEntry,
    of table: TableData,
    key: K.Type,
    into message: ObjectSlots
  ) throws(DecodeError) {
    try map(entry, of: table, key: key, into: message)
  }

  @inline(never)
  private mutating func entries<K: MapKeySlot, V: MapSlot>(
    _ entry: TableEntry,
    of table: TableData,
    _ key: K.Type,
    _ value: V.Type,
    into message: ObjectSlots
  ) throws(DecodeError) {
    var entries = message.take(entry, as: [K: V].self) ?? [:]
    defer { if !entries.isEmpty { message.put(entries, in: entry) } }
    if entries.capacity == 0 {
      entries = Dictionary(NoEntries(underestimatedCount: run(of: entry.key))) { $1 }
    }
    let tags = BinaryDecoder.tags(entry)
    repeat {
      if let words = try self.entry(entry, tags, of: table, into: message) {
        entries.updateValue(V(owned: words.value), forKey: K(owned: words.key))
      }
    } while repeatsMap(entry)
  }

  /// Reads entries whose values are of a generated enum.
  @inline(never)
  private mutating func enumMap<K: MapKeySlot, E: Enum>(
    _ entry: TableEntry,
    of table: TableData,
    key: K.Type,
    value: E.Type,
    into message: ObjectSlots
  ) throws(DecodeError) {
    var entries = message.take(entry, as: [K: E].self) ?? [:]
    defer { if !entries.isEmpty { message.put(entries, in: entry) } }
    let tags = BinaryDecoder.tags(entry)
    repeat {
      if let words = try self.entry(entry, tags, of: table, into: message) {
        let number = Int32(owned: words.value)
        entries.updateValue(E(rawValue: Int(number)) ?? E(), forKey: K(owned: words.key))
      }
    } while repeatsMap(entry)
  }

  /// The tags of keys and of values.
  private static func tags(_ entry: TableEntry) -> (key: Tag, value: Tag) {
    (Tag(number: 1, entry.keyType.wireType), Tag(number: 2, entry.type.wireType))
  }

  /// Whether another entry of the map follows.
  @inline(__always)
  private mutating func repeatsMap(_ entry: TableEntry) -> Bool {
    fieldStart = reader.cursor
    return repeats(entry.key)
  }

  // MARK: Words

  /// Reads an entry after its tag, which is at `fieldStart`. Returns words that own what they refer to. Returns nil if
  /// the whole entry is unknown, because a closed enum does not have its value.
  @inline(never)
  private mutating func entry(
    _ entry: TableEntry,
    _ tags: (key: Tag, value: Tag),
    of table: TableData,
    into message: ObjectSlots
  ) throws(DecodeError) -> (key: MapWords, value: MapWords)? {
    let start = fieldStart
    guard enterLevel() else { throw DecodeError(.nestedTooDeep) }
    let outerEnd = try enter()
    let enumeration = table.enumeration(of: entry)
    // An entry without a value has an object too.
    if entry.type.isMessage, !table.message(of: entry).isPlain { try claim(table.message(of: entry)) }
    let (zero, empty) = (MapWords(0, 0), "".leaked())
    var key = entry.keyType == .string ? empty : zero
    var value =
      switch entry.type {
      case .string: empty
      case .bytes: [UInt8]().leaked()
      case .enumeration: (enumeration?.defaultNumber ?? 0).words
      case .message, .group: MessageStorage(table.message(of: entry)).leaked()
      default: zero
      }
    do throws(DecodeError) {
      // Most writers write the key and then the value.
      if reader.skipsTag(tags.key), !shortString(entry.keyType, into: &key) {
        try self.key(entry, into: &key)
      }
      if reader.skipsTag(tags.value), !shortString(entry.type, into: &value) {
        try part(entry, entry.type, into: &value)
      }
      while try nextField(group: 0) {
        if tag == tags.key {
          try self.key(entry, into: &key)
        } else if tag == tags.value {
          try part(entry, entry.type, into: &value)
        } else {
          try skipValue()
        }
      }
    } catch {
      BinaryDecoder.release(key, entry.keyType)
      BinaryDecoder.release(value, entry.type)
      throw error
    }
    reader.end = outerEnd
    leaveLevel()
    if let enumeration, !enumeration.accepts(Int32(owned: value)) {
      BinaryDecoder.release(key, entry.keyType)
      keep(from: start, in: message)
      return nil
    }
    return (key, value)
  }

  /// Reads most strings. Returns false, without moving, for anything else.
  @inline(__always)
  private mutating func shortString(_ type: FieldType, into words: inout MapWords) -> Bool {
    type == .string && reader.shortString(into: &words)
  }

  /// Reads a key after its tag.
  @inline(__always)
  private mutating func key(_ entry: TableEntry, into words: inout MapWords) throws(DecodeError) {
    if entry.keyType == .string {
      try stringKey(entry, into: &words)
    } else {
      try part(entry, entry.keyType, into: &words)
    }
  }

  @inline(never)
  private mutating func stringKey(_ entry: TableEntry, into words: inout MapWords) throws(DecodeError) {
    let text = try string(checksUTF8: entry.checksUTF8)
    if text.hasLongRunOfMarks { throw DecodeError(.malformed(DecodeError.longRunOfMarks)) }
    BinaryDecoder.release(words, .string)
    words = text.leaked()
  }

  /// Reads a key that is no string, or a value, after its tag. A message is merged into the entry's current value.
  @inline(never)
  private mutating func part(
    _ entry: TableEntry,
    _ type: FieldType,
    into words: inout MapWords
  ) throws(DecodeError) {
    switch type {
    case .string:
      let text = try string(checksUTF8: entry.checksUTF8)
      BinaryDecoder.release(words, type)
      words = text.leaked()
    case .bytes:
      let bytes = try reader.bytes()
      BinaryDecoder.release(words, type)
      words = bytes.leaked()
    case .message, .group:
      var message = MessageStorage(owned: words)
      defer { words = message.leaked() }
      try content(of: &message)
    case .fixed32, .sfixed32, .float: words.low = UInt64(try reader.fixed(UInt32.self))
    case .fixed64, .sfixed64, .double: words.low = try reader.fixed(UInt64.self)
    case .sint32: words.low = UInt64(UInt32(bitPattern: ProtoSInt32.value(of: try reader.varint())))
    case .sint64: words.low = UInt64(bitPattern: ProtoSInt64.value(of: try reader.varint()))
    case .bool: words.low = try reader.varint() == 0 ? 0 : 1
    case .int32, .int64, .uint32, .uint64, .enumeration: words.low = try reader.varint()
    }
  }

  /// Gives up what words refer to.
  @inline(__always)
  private static func release(_ words: MapWords, _ type: FieldType) {
    switch type {
    case .string: if SmallString.isReference(words) { _ = String(owned: words) }
    case .bytes: _ = [UInt8](owned: words)
    case .message, .group: _ = MessageStorage(owned: words)
    default: break
    }
  }
}

/// An empty sequence that makes a dictionary reserve capacity: compiled here, unlike `Dictionary(minimumCapacity:)`,
/// which looks up the type of its storage each time.
private struct NoEntries<Key, Value>: Sequence, IteratorProtocol {
  let underestimatedCount: Int
  func next() -> (Key, Value)? { nil }
}

extension FieldType {
  /// The Swift type of the keys of a map, for the shared implementation.
  var rareMapKey: any MapKeySlot.Type {
    @inline(never) get {
      switch self {
      case .int32, .sint32, .sfixed32: Int32.self
      case .int64, .sint64, .sfixed64: Int64.self
      case .uint32, .fixed32: UInt32.self
      case .uint64, .fixed64: UInt64.self
      case .bool: Bool.self
      default: String.self
      }
    }
  }
}
