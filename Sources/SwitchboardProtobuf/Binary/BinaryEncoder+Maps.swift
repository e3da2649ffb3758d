extension BinaryEncoder {
  /// Writes the entries of a map.
  mutating func map(
    _ entry: TableEntry,
    of message: ObjectSlots,
    _ table: TableData,
    _ cursor: ReverseCursor
  ) -> ReverseCursor {
    if let type = table.enumType(of: entry) {
      return enumMap(entry, of: message, key: entry.keyType.rareMapKey, value: type, cursor)
    }
    return switch entry.keyType {
    case .string: map(entry, of: message, key: String.self, cursor)
    case .int32, .sint32, .sfixed32: map(entry, of: message, key: Int32.self, cursor)
    case .int64, .sint64, .sfixed64: map(entry, of: message, key: Int64.self, cursor)
    default: rareMap(entry, of: message, key: entry.keyType.rareMapKey, cursor)
    }
  }

  // The common key types are specialized for each value type; the others share one implementation.

  @inline(__always)
  private mutating func map<K: MapKeySlot>(
    _ entry: TableEntry,
    of message: ObjectSlots,
    key: K.Type,
    _ cursor: ReverseCursor
  ) -> ReverseCursor {
    switch entry.type {
    case .message, .group: entries(entry, of: message, key, MessageStorage.self, cursor)
    case .string: entries(entry, of: message, key, String.self, cursor)
    case .bytes: entries(entry, of: message, key, [UInt8].self, cursor)
    case .bool: entries(entry, of: message, key, Bool.self, cursor)
    case let type where type.width == 4: entries(entry, of: message, key, UInt32.self, cursor)
    default: entries(entry, of: message, key, UInt64.self, cursor)
    }
  }

  @inline(never)
  private mutating func rareMap<K: MapKeySlot>(
    _ entry: TableEntry,
    of message: ObjectSlots,
    key: K.Type,
    _ cursor: ReverseCursor
  ) -> ReverseCursor {
    map(entry, of: message, key: key, cursor)
  }

  @inline(never)
  private mutating func entries<K: MapKeySlot, V: MapSlot>(
    _ entry: TableEntry,
    of message: ObjectSlots,
    _ key: K.Type,
    _ value: V.Type,
    _ cursor: ReverseCursor
  ) -> ReverseCursor {
    self.entries(entry, message.slot(entry, as: [K: V].self).pointee, cursor)
  }

  @inline(__always)
  private mutating func entries<K: MapKeySlot, V: MapSlot>(
    _ entry: TableEntry,
    _ entries: [K: V],
    _ cursor: ReverseCursor
  ) -> ReverseCursor {
    var cursor = cursor
    if isDeterministic {
      for (key, value) in entries.sorted(by: { K.precedes($1.key, $0.key) }) {
        self.entry(entry, key, value, &cursor)
      }
    } else {
      for (key, value) in entries { self.entry(entry, key, value, &cursor) }
    }
    return cursor
  }

  @inline(__always)
  private mutating func entry<K: MapKeySlot, V: MapSlot>(
    _ entry: TableEntry,
    _ key: K,
    _ value: V,
    _ cursor: inout ReverseCursor
  ) {
    let before = count(cursor)
    V.write(value, as: entry.type, number: 2, to: &self, &cursor)
    K.write(key, as: entry.keyType, number: 1, to: &self, &cursor)
    length(count(cursor) &- before, entry.tag, &cursor)
  }

  /// Writes entries whose values are of a generated enum.
  @inline(never)
  private mutating func enumMap<K: MapKeySlot, E: Enum>(
    _ entry: TableEntry,
    of message: ObjectSlots,
    key: K.Type,
    value: E.Type,
    _ cursor: ReverseCursor
  ) -> ReverseCursor {
    let entries = message.slot(entry, as: [K: E].self).pointee
    return self.entries(entry, entries.mapValues { UInt32(truncatingIfNeeded: $0.rawValue) }, cursor)
  }
}
