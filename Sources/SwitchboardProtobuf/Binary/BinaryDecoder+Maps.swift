extension BinaryDecoder {
  /// Reads consecutive entries of a map.
  mutating func map(
    _ entry: TableEntry,
    of table: TableData,
    into message: ObjectSlots
  ) throws(DecodeError) {
    if let type = table.enumType(of: entry) {
      try enumMap(entry, key: entry.keyType.rareMapKey, value: type, into: message)
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
    let keyTag = Tag(number: 1, entry.keyType.wireType)
    let valueTag = Tag(number: 2, entry.type.wireType)
    repeat {
      let start = fieldStart
      guard enterLevel() else { throw DecodeError(.nestedTooDeep) }
      let outerEnd = try enter()
      var newKey = K.emptyKey
      var newValue = V.initial(entry, of: table)
      // Most writers write the key and then the value.
      if reader.skipsTag(keyTag) {
        try K.read(entry.keyType, into: &newKey, checksUTF8: entry.checksUTF8, from: &self)
      }
      if reader.skipsTag(valueTag) {
        try V.read(entry.type, into: &newValue, checksUTF8: entry.checksUTF8, from: &self)
      }
      while try nextField(group: 0) {
        if tag == keyTag {
          try K.read(entry.keyType, into: &newKey, checksUTF8: entry.checksUTF8, from: &self)
        } else if tag == valueTag {
          try V.read(entry.type, into: &newValue, checksUTF8: entry.checksUTF8, from: &self)
        } else {
          try skipValue()
        }
      }
      reader.end = outerEnd
      leaveLevel()
      if V.accepts(newValue, entry, of: table) {
        entries.updateValue(consume newValue, forKey: consume newKey)
      } else {
        keep(from: start, in: message)  // the whole entry is unknown
      }
    } while repeatsMap(entry)
  }

  /// Whether another entry of the map follows.
  @inline(__always)
  private mutating func repeatsMap(_ entry: TableEntry) -> Bool {
    fieldStart = reader.cursor
    return repeats(entry.key)
  }

  /// Reads entries whose values are of a generated enum.
  @inline(never)
  private mutating func enumMap<K: MapKeySlot, E: Enum>(
    _ entry: TableEntry,
    key: K.Type,
    value: E.Type,
    into message: ObjectSlots
  ) throws(DecodeError) {
    var entries = message.take(entry, as: [K: E].self) ?? [:]
    defer { if !entries.isEmpty { message.put(entries, in: entry) } }
    repeat {
      let start = fieldStart
      guard enterLevel() else { throw DecodeError(.nestedTooDeep) }
      let outerEnd = try enter()
      var newKey = K.emptyKey
      var newValue: E? = E()
      while try nextField(group: 0) {
        if self.tag.number == 1, self.tag.has(entry.keyType.wireType) {
          try K.read(entry.keyType, into: &newKey, checksUTF8: entry.checksUTF8, from: &self)
        } else if self.tag.number == 2, self.tag.has(.varint) {
          newValue = E(rawValue: Int(Int32(truncatingIfNeeded: try reader.varint())))
        } else {
          try skipValue()
        }
      }
      reader.end = outerEnd
      leaveLevel()
      if let newValue { entries[newKey] = newValue } else { keep(from: start, in: message) }
    } while repeatsMap(entry)
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
