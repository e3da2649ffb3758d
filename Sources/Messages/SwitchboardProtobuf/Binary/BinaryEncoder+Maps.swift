// unsafe: the cursor over memory: each field reserves what it writes; long values are lent

extension BinaryEncoder {
  /// Writes the entries of a map.
  @inline(never)
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
    entries(entry, message.slot(entry, as: [K: V].self).pointee, as: V.self, cursor) { $0.words }
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
    entries(entry, message.slot(entry, as: [K: E].self).pointee, as: Int32.self, cursor) {
      Int32(truncatingIfNeeded: $0.rawValue).words
    }
  }

  /// Writes the entries of a dictionary, whose values are written as those of `type`. `words` returns those of a value.
  @inline(__always)
  private mutating func entries<K: MapKeySlot, V, Written: MapSlot>(
    _ entry: TableEntry,
    _ entries: [K: V],
    as type: Written.Type,
    _ cursor: ReverseCursor,
    words: (V) -> MapWords
  ) -> ReverseCursor {
    var cursor = cursor
    if isDeterministic {
      var sorted: [MapEntryWords] = []
      sorted.reserveCapacity(entries.count)
      for (key, value) in entries { sorted.append(MapEntryWords(key: key.words, value: words(value))) }
      cursor = self.sorted(&sorted, entry, cursor)
    } else {
      for (key, value) in entries {
        let before = count(cursor)
        cursor = type.write(words(value), as: entry.type, number: 2, to: &self, cursor)
        cursor = K.write(key.words, as: entry.keyType, number: 1, to: &self, cursor)
        length(count(cursor) &- before, entry.tag, &cursor)
      }
    }
    // The words do not hold what they refer to.
    withExtendedLifetime(entries) {}
    return cursor
  }

  // MARK: Words

  /// Writes entries in the order of their keys, the last first.
  @inline(never)
  private mutating func sorted(
    _ entries: inout [MapEntryWords],
    _ entry: TableEntry,
    _ cursor: ReverseCursor
  ) -> ReverseCursor {
    var cursor = cursor
    let type = entry.keyType
    entries.sort { MapEntryWords.precedes($1.key, $0.key, type) }
    for words in entries {
      let before = count(cursor)
      cursor = part(words.value, as: entry.type, number: 2, cursor)
      cursor = part(words.key, as: type, number: 1, cursor)
      length(count(cursor) &- before, entry.tag, &cursor)
    }
    return cursor
  }

  /// Writes a key or a value.
  @inline(never)
  mutating func part(
    _ words: MapWords,
    as type: FieldType,
    number: Int32,
    _ cursor: ReverseCursor
  ) -> ReverseCursor {
    var cursor = cursor
    reserve(&cursor)
    let low = UInt32(truncatingIfNeeded: words.low)
    switch type {
    case .string: return text(words, number: number, cursor)
    case .bytes:
      let memory = ArrayMemory(object: BinaryEncoder.object(words))
      bytes(memory.bytes, EncodedTag(number, .lengthDelimited), &cursor)
      return cursor
    case .message, .group:
      let slots = ObjectSlots(base: BinaryEncoder.object(words))
      return nested(slots, EncodedTag(number, .lengthDelimited), cursor)
    case .fixed32, .sfixed32, .float: cursor.fixed(low)
    case .fixed64, .sfixed64, .double: cursor.fixed(words.low)
    case .int32, .enumeration: cursor.varint(UInt64(bitPattern: Int64(Int32(bitPattern: low))))
    case .sint32: cursor.varint(ProtoSInt32.bits(of: Int32(bitPattern: low)))
    case .sint64: cursor.varint(ProtoSInt64.bits(of: Int64(bitPattern: words.low)))
    case .int64, .uint32, .uint64, .bool: cursor.varint(words.low)
    }
    cursor.tag(EncodedTag(number, type.wireType))
    return cursor
  }

  @inline(never)
  private mutating func text(_ words: MapWords, number: Int32, _ cursor: ReverseCursor) -> ReverseCursor {
    String.write(words, as: .string, number: number, to: &self, cursor)
  }

  /// The object that bytes or a message refer to.
  @inline(__always)
  private static func object(_ words: MapWords) -> UnsafeMutableRawPointer {
    UnsafeMutableRawPointer(bitPattern: UInt(truncatingIfNeeded: words.low)).unsafelyUnwrapped
  }
}

/// An entry of a dictionary that its user holds.
private struct MapEntryWords: BitwiseCopyable {
  let key: MapWords
  let value: MapWords

  /// The order of keys in deterministic output: strings by their bytes, as libprotobuf sorts them.
  static func precedes(_ left: MapWords, _ right: MapWords, _ type: FieldType) -> Bool {
    switch type {
    case .string: text(left) { left in text(right) { ProtoString.areInIncreasingOrder(left, $0) } }
    case .uint32, .uint64, .fixed32, .fixed64, .bool: left.low < right.low
    default: Int64(bitPattern: left.low) < Int64(bitPattern: right.low)
    }
  }

  private static func text(_ words: MapWords, _ body: (String) -> Bool) -> Bool {
    withUnsafePointer(to: words) { body(UnsafeRawPointer($0).assumingMemoryBound(to: String.self).pointee) }
  }
}
