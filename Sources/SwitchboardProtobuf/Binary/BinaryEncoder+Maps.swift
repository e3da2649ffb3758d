extension BinaryEncoder {
  /// Writes the entries of a map.
  mutating func map(
    _ entry: TableEntry,
    of message: ObjectSlots,
    _ table: TableData
  ) throws(EncodeError) {
    if let type = table.enumType(of: entry) {
      try enumMap(entry, of: message, key: entry.keyType.rareMapKey, value: type)
    } else {
      switch entry.keyType {
      case .string: try map(entry, of: message, key: String.self)
      case .int32, .sint32, .sfixed32: try map(entry, of: message, key: Int32.self)
      case .int64, .sint64, .sfixed64: try map(entry, of: message, key: Int64.self)
      default: try rareMap(entry, of: message, key: entry.keyType.rareMapKey)
      }
    }
  }

  // The common keys are compiled for each type of values, the others once for all.

  @inline(__always)
  private mutating func map<K: MapKeySlot>(
    _ entry: TableEntry,
    of message: ObjectSlots,
    key: K.Type
  ) throws(EncodeError) {
    switch entry.type {
    case .message, .group: try entries(entry, of: message, key, MessageStorage.self)
    case .string: try entries(entry, of: message, key, String.self)
    case .bytes: try entries(entry, of: message, key, [UInt8].self)
    case .bool: try entries(entry, of: message, key, Bool.self)
    case let type where type.width == 4: try entries(entry, of: message, key, UInt32.self)
    default: try entries(entry, of: message, key, UInt64.self)
    }
  }

  @inline(never)
  private mutating func rareMap<K: MapKeySlot>(
    _ entry: TableEntry,
    of message: ObjectSlots,
    key: K.Type
  ) throws(EncodeError) {
    try map(entry, of: message, key: key)
  }

  @inline(never)
  private mutating func entries<K: MapKeySlot, V: MapSlot>(
    _ entry: TableEntry,
    of message: ObjectSlots,
    _ key: K.Type,
    _ value: V.Type
  ) throws(EncodeError) {
    let entries = message.slot(entry, as: [K: V].self).pointee
    if isDeterministic {
      for (key, value) in entries.sorted(by: { K.precedes($1.key, $0.key) }) {
        try self.entry(entry, key, value)
      }
    } else {
      for (key, value) in entries { try self.entry(entry, key, value) }
    }
  }

  @inline(__always)
  private mutating func entry<K: MapKeySlot, V: MapSlot>(
    _ entry: TableEntry,
    _ key: K,
    _ value: V
  ) throws(EncodeError) {
    let before = count
    try V.write(value, as: entry.type, number: 2, to: &self)
    try K.write(key, as: entry.keyType, number: 1, to: &self)
    try length(of: count - before, entry.tag)
  }

  /// Writes entries whose values are of a generated enum.
  @inline(never)
  private mutating func enumMap<K: MapKeySlot, E: Enum>(
    _ entry: TableEntry,
    of message: ObjectSlots,
    key: K.Type,
    value: E.Type
  ) throws(EncodeError) {
    let entries = message.slot(entry, as: [K: E].self).pointee
    let numbers = entries.mapValues { UInt32(truncatingIfNeeded: $0.rawValue) }
    if isDeterministic {
      for (key, value) in numbers.sorted(by: { K.precedes($1.key, $0.key) }) {
        try self.entry(entry, key, value)
      }
    } else {
      for (key, value) in numbers { try self.entry(entry, key, value) }
    }
  }
}
