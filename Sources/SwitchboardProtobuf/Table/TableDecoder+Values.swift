extension TableDecoder {
  // MARK: Singular

  /// Reads the value of a singular field that is no message.
  mutating func value(
    _ entry: TableEntry,
    _ type: EnumTable?,
    into message: inout TableMessage
  ) throws(DecodeError) {
    switch entry.type {
    case .int32, .uint32: message.set(entry, to: UInt32(truncatingIfNeeded: try reader.varint()))
    case .int64, .uint64: message.set(entry, to: try reader.varint())
    case .sint32: message.set(entry, to: ProtoSInt32.value(of: try reader.varint()))
    case .sint64: message.set(entry, to: ProtoSInt64.value(of: try reader.varint()))
    case .fixed32, .sfixed32, .float: message.set(entry, to: try reader.fixed32())
    case .fixed64, .sfixed64, .double: message.set(entry, to: try reader.fixed64())
    case .bool: message.set(entry, to: try reader.varint() != 0)
    case .enumeration:
      let number = Int32(truncatingIfNeeded: try reader.varint())
      if type?.accepts(number) ?? true {
        message.set(entry, to: number)
      } else {
        keep(UInt64(bitPattern: Int64(number)), in: &message)
      }
    case .string: message.set(entry, to: try string(entry))
    case .bytes: message.set(entry, to: Array(try reader.lengthDelimited()))
    case .message, .group: break
    }
  }

  private mutating func string(_ entry: TableEntry) throws(DecodeError) -> String {
    if entry.checksUTF8 { return try reader.string() }
    return String(decoding: try reader.lengthDelimited(), as: UTF8.self)
  }

  // MARK: Repeated

  /// Reads elements of a repeated field: one, those that follow with the same tag, or packed ones.
  mutating func elements(
    _ entry: TableEntry,
    of table: TableData,
    _ type: EnumTable?,
    isPacked: Bool,
    into message: inout TableMessage
  ) throws(DecodeError) {
    switch entry.type {
    case .message, .group: try messages(entry, of: table, into: &message)
    case .enumeration: try enums(entry, type, isPacked: isPacked, into: &message)
    case .int32: try scalars(entry, as: ProtoInt32.self, isPacked, &message)
    case .int64: try scalars(entry, as: ProtoInt64.self, isPacked, &message)
    case .uint32: try scalars(entry, as: ProtoUInt32.self, isPacked, &message)
    case .uint64: try scalars(entry, as: ProtoUInt64.self, isPacked, &message)
    case .sint32: try scalars(entry, as: ProtoSInt32.self, isPacked, &message)
    case .sint64: try scalars(entry, as: ProtoSInt64.self, isPacked, &message)
    case .fixed32: try scalars(entry, as: ProtoFixed32.self, isPacked, &message)
    case .fixed64: try scalars(entry, as: ProtoFixed64.self, isPacked, &message)
    case .sfixed32: try scalars(entry, as: ProtoSFixed32.self, isPacked, &message)
    case .sfixed64: try scalars(entry, as: ProtoSFixed64.self, isPacked, &message)
    case .float: try scalars(entry, as: ProtoFloat.self, isPacked, &message)
    case .double: try scalars(entry, as: ProtoDouble.self, isPacked, &message)
    case .bool: try scalars(entry, as: ProtoBool.self, isPacked, &message)
    case .bytes: try scalars(entry, as: ProtoBytes.self, isPacked, &message)
    case .string where entry.checksUTF8: try scalars(entry, as: ProtoString.self, isPacked, &message)
    case .string: try scalars(entry, as: ProtoUncheckedString.self, isPacked, &message)
    }
  }

  private mutating func scalars<S: ScalarType>(
    _ entry: TableEntry,
    as type: S.Type,
    _ isPacked: Bool,
    _ message: inout TableMessage
  ) throws(DecodeError) {
    var values = message.take(entry, as: [S.Value].self) ?? []
    if isPacked {
      _ = try S.readPacked(try reader.length(), into: &values, from: &reader)
    } else {
      if S.wireType == .lengthDelimited, values.capacity == 0 { values.reserveCapacity(elementsAhead()) }
      repeat {
        if let value = try S.read(from: &reader) { values.append(value) }
      } while entersSameField()
    }
    message.put(values.isEmpty ? nil : values, in: entry)
  }

  private mutating func enums(
    _ entry: TableEntry,
    _ type: EnumTable?,
    isPacked: Bool,
    into message: inout TableMessage
  ) throws(DecodeError) {
    var values = message.take(entry, as: [Int32].self) ?? []
    let outerEnd = isPacked ? try enter() : reader.end
    while !isPacked || !reader.isAtEnd {
      let bits = try reader.varint()
      let number = Int32(truncatingIfNeeded: bits)
      if type?.accepts(number) ?? true {
        values.append(number)
      } else {
        // libprotobuf keeps all bits of packed numbers, and the low ones of others.
        keep(isPacked ? bits : UInt64(bitPattern: Int64(number)), in: &message)
      }
      if !isPacked, !entersSameField() { break }
    }
    reader.end = outerEnd
    message.put(values.isEmpty ? nil : values, in: entry)
  }

  private mutating func messages(
    _ entry: TableEntry,
    of table: TableData,
    into message: inout TableMessage
  ) throws(DecodeError) {
    let nested = table.message(of: entry)
    let isGroup = entry.type == .group
    var values = message.take(entry, as: [TableMessage].self) ?? []
    if values.capacity == 0, !isGroup { values.reserveCapacity(elementsAhead()) }
    let tag = tag
    repeat {
      var value = TableMessage(nested)
      try content(of: &value, isGroup: isGroup)
      values.append(value)
      restore(tag)
    } while entersSameField()
    message.put(values, in: entry)
  }

  // MARK: Maps

  mutating func map(
    _ entry: TableEntry,
    of table: TableData,
    _ type: EnumTable?,
    into message: inout TableMessage
  ) throws(DecodeError) {
    let key = entry.keyType.mapKey(checksUTF8: entry.checksUTF8)
    if entry.type.isMessage {
      try messageMap(entry, of: table, key: key, into: &message)
    } else if entry.type == .enumeration {
      try scalarMap(entry, type, key: key, value: ProtoInt32.self, into: &message)
    } else {
      let value = entry.type.scalar(checksUTF8: entry.checksUTF8)
      try scalarMap(entry, nil, key: key, value: value, into: &message)
    }
  }

  private mutating func messageMap<K: MapKeyType>(
    _ entry: TableEntry,
    of table: TableData,
    key: K.Type,
    into message: inout TableMessage
  ) throws(DecodeError) {
    let nested = table.message(of: entry)
    var entries = message.take(entry, as: [K.Value: TableMessage].self) ?? [:]
    try mapEntries { decoder, _ throws(DecodeError) in
      var key = K.protoDefault
      var value: TableMessage?
      try decoder.entryFields { decoder throws(DecodeError) in
        if decoder.tag.number == 1, decoder.tag.has(K.wireType), let new = try K.read(from: &decoder.reader) {
          key = new
        } else if decoder.tag.number == 2, decoder.tag.has(.lengthDelimited) {
          var new = value ?? TableMessage(nested)
          value = nil
          try decoder.content(of: &new)
          value = new
        } else {
          try decoder.skipValue()
        }
      }
      entries[key] = value ?? TableMessage(nested)
    }
    message.put(entries, in: entry)
  }

  private mutating func scalarMap<K: MapKeyType, V: ScalarType>(
    _ entry: TableEntry,
    _ type: EnumTable?,
    key: K.Type,
    value: V.Type,
    into message: inout TableMessage
  ) throws(DecodeError) {
    var entries = message.take(entry, as: [K.Value: V.Value].self) ?? [:]
    let initial = type.flatMap { $0.defaultNumber as? V.Value } ?? V.protoDefault
    try mapEntries { decoder, start throws(DecodeError) in
      var key = K.protoDefault
      var value = initial
      try decoder.entryFields { decoder throws(DecodeError) in
        if decoder.tag.number == 1, decoder.tag.has(K.wireType), let new = try K.read(from: &decoder.reader) {
          key = new
        } else if decoder.tag.number == 2, decoder.tag.has(V.wireType),
          let new = try V.read(from: &decoder.reader)
        {
          value = new
        } else {
          try decoder.skipValue()
        }
      }
      // The value is a number that a closed enum does not define: the whole entry is unknown.
      if let type, let number = value as? Int32, !type.accepts(number) {
        decoder.keep(from: start, in: &message)
      } else {
        entries[key] = value
      }
    }
    message.put(entries.isEmpty ? nil : entries, in: entry)
  }

  /// Reads the entries that follow each other; `body` reads the fields of one that starts at a place.
  private mutating func mapEntries(
    _ body: (inout TableDecoder, UnsafeRawPointer) throws(DecodeError) -> Void
  ) throws(DecodeError) {
    let tag = tag
    repeat {
      try body(&self, fieldStart)
      restore(tag)
    } while entersSameField()
  }

  /// Reads the fields of a map entry, which is a message.
  private mutating func entryFields(
    _ field: (inout TableDecoder) throws(DecodeError) -> Void
  ) throws(DecodeError) {
    guard enterLevel() else { throw DecodeError(.nestedTooDeep) }
    let outerEnd = try enter()
    while try nextField(group: 0) { try field(&self) }
    reader.end = outerEnd
    leaveLevel()
  }
}
