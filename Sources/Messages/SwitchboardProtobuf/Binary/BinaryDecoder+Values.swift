// unsafe: marks places in the bytes being read, to copy from them

// Reads the values of fields into their slots.
extension BinaryDecoder {
  /// Reads the value of a field, whose tag was read. The field starts at `start`.
  @inline(__always)
  mutating func value(
    _ entry: TableEntry,
    of table: TableData,
    into message: ObjectSlots,
    from start: UnsafeRawPointer
  ) throws(DecodeError) {
    switch entry.shape {
    case .singular, .oneof: try singular(entry, of: table, into: message)
    case .repeated: try elements(entry, of: table, isPacked: entry.isPacked, into: message)
    case .map:
      fieldStart = start
      try map(entry, of: table, into: message)
    }
  }

  // MARK: Singular

  @inline(__always)
  private mutating func singular(
    _ entry: TableEntry,
    of table: TableData,
    into message: ObjectSlots
  ) throws(DecodeError) {
    switch entry.type {
    case .int32, .uint32: message.set(entry, to: UInt32(truncatingIfNeeded: try reader.varint()))
    case .int64, .uint64: message.set(entry, to: try reader.varint())
    case .sint32: message.set(entry, to: ProtoSInt32.value(of: try reader.varint()))
    case .sint64: message.set(entry, to: ProtoSInt64.value(of: try reader.varint()))
    case .fixed32, .sfixed32, .float: message.set(entry, to: try reader.fixed(UInt32.self))
    case .fixed64, .sfixed64, .double: message.set(entry, to: try reader.fixed(UInt64.self))
    case .bool: message.set(entry, to: try reader.varint() != 0)
    case .enumeration:
      let bits = try reader.varint()
      let number = Int32(truncatingIfNeeded: bits)
      if table.accepts(number, in: entry) {
        message.set(entry, to: number)
      } else {
        keep(field(entry.number, of: bits, isPacked: false), in: message)
      }
    case .string where entry.shape == .oneof: try memberString(entry, into: message)
    case .string:
      if !reader.shortString(into: message.slot(entry, as: SmallString.Words.self)) {
        try longString(into: message.slot(entry, as: String?.self), checksUTF8: entry.checksUTF8)
      }
    case .bytes:
      let bytes = try reader.bytes()
      if entry.shape == .oneof { message.select(entry) }
      message.slot(entry, as: [UInt8]?.self).pointee = bytes
    case .message: try content(of: message.message(entry, of: table))
    case .group: try group(entry.number, into: message.message(entry, of: table))
    }
  }

  /// Reads a string in a oneof. The member is selected last, because a selected member must have a value, even after an
  /// error.
  @inline(never)
  private mutating func memberString(_ entry: TableEntry, into message: ObjectSlots) throws(DecodeError) {
    let value = try string(checksUTF8: entry.checksUTF8)
    message.select(entry)
    message.slot(entry, as: String?.self).pointee = value
  }

  @inline(never)
  private mutating func longString(
    into slot: UnsafeMutablePointer<String?>,
    checksUTF8: Bool
  ) throws(DecodeError) {
    let value = checksUTF8 ? try reader.longString() : try string(checksUTF8: false)
    if SmallString.isReference(UnsafeMutableRawPointer(slot).load(as: SmallString.Words.self)) {
      slot.pointee = value
    } else {
      slot.initialize(to: value)  // over what holds no reference
    }
  }

  @inline(__always)
  mutating func string(checksUTF8: Bool) throws(DecodeError) -> String {
    if checksUTF8 { return try reader.string() }
    return String(decoding: try reader.lengthDelimited(), as: UTF8.self)
  }

  // MARK: Repeated

  /// Reads elements of a repeated field: packed ones, or consecutive ones with the same tag.
  mutating func elements(
    _ entry: TableEntry,
    of table: TableData,
    isPacked: Bool,
    into message: ObjectSlots
  ) throws(DecodeError) {
    switch entry.type {
    case .message, .group: try messages(entry, of: table, into: message)
    case .enumeration:
      let enumeration = table.enumeration(of: entry)
      if let type = enumeration?.type {
        try enums(entry, as: type, isPacked: isPacked, into: message)
      } else {
        try enums(entry, isPacked: isPacked, into: message) { number in
          enumeration?.accepts(number) ?? true ? number : nil
        }
      }
    case .int32: try scalars(entry, as: ProtoInt32.self, isPacked, message)
    case .int64: try scalars(entry, as: ProtoInt64.self, isPacked, message)
    case .uint32: try scalars(entry, as: ProtoUInt32.self, isPacked, message)
    case .uint64: try scalars(entry, as: ProtoUInt64.self, isPacked, message)
    case .sint32: try scalars(entry, as: ProtoSInt32.self, isPacked, message)
    case .sint64: try scalars(entry, as: ProtoSInt64.self, isPacked, message)
    case .fixed32: try scalars(entry, as: ProtoFixed32.self, isPacked, message)
    case .fixed64: try scalars(entry, as: ProtoFixed64.self, isPacked, message)
    case .sfixed32: try scalars(entry, as: ProtoSFixed32.self, isPacked, message)
    case .sfixed64: try scalars(entry, as: ProtoSFixed64.self, isPacked, message)
    case .float: try scalars(entry, as: ProtoFloat.self, isPacked, message)
    case .double: try scalars(entry, as: ProtoDouble.self, isPacked, message)
    case .bool: try scalars(entry, as: ProtoBool.self, isPacked, message)
    case .bytes: try scalars(entry, as: ProtoBytes.self, isPacked, message)
    case .string where entry.checksUTF8: try strings(entry, into: message)
    case .string: try scalars(entry, as: ProtoUncheckedString.self, isPacked, message)
    }
  }

  private mutating func strings(_ entry: TableEntry, into message: ObjectSlots) throws(DecodeError) {
    let key = entry.key
    let classes = reader.classes
    if !message.hasReference(entry.offset), classes.strings.isKnown {
      var isFirst = true
      let count = run(of: key)
      try message.make(entry, classes.strings, classes, count: count) { () throws(DecodeError) in
        if !isFirst { _ = repeats(key) }
        isFirst = false
        return try element()
      }
      guard repeats(key) else { return }
    }
    var values = message.take(entry, as: [String].self) ?? []
    defer { if !values.isEmpty { message.put(values, in: entry) } }
    repeat { values.append(try element()) } while repeats(key)
  }

  @inline(__always)
  private mutating func element() throws(DecodeError) -> String {
    if let value = reader.shortString() { return value }
    return try reader.longString(sharing: &recent)
  }

  private mutating func scalars<S: ScalarType>(
    _ entry: TableEntry,
    as type: S.Type,
    _ isPacked: Bool,
    _ message: ObjectSlots
  ) throws(DecodeError) {
    var values = message.take(entry, as: [S.Value].self) ?? []
    defer { if !values.isEmpty { message.put(values, in: entry) } }
    if isPacked {
      _ = try S.readPacked(try reader.length(), into: &values, from: &reader)
    } else {
      let key = Tag(number: entry.number, S.wireType)
      repeat {
        let count = S.wireType == .lengthDelimited ? run(of: key) : 1
        try values.append(addingCapacity: count) { span throws(DecodeError) in
          for index in 0..<count {
            if index > 0 { _ = repeats(key) }
            if let value = try S.read(from: &reader) { span.append(value) }
          }
        }
      } while repeats(key)
    }
  }

  /// Reads elements of a generated enum, which the array contains as enum values.
  private mutating func enums<E: Enum>(
    _ entry: TableEntry,
    as type: E.Type,
    isPacked: Bool,
    into message: ObjectSlots
  ) throws(DecodeError) {
    try enums(entry, isPacked: isPacked, into: message) { E(rawValue: Int($0)) }
  }

  /// Reads elements of an enum. `value` returns the array's element for a number, or nil for a number that a closed
  /// enum does not define.
  private mutating func enums<Value>(
    _ entry: TableEntry,
    isPacked: Bool,
    into message: ObjectSlots,
    value: (Int32) -> Value?
  ) throws(DecodeError) {
    let key = Tag(number: entry.number, .varint)
    var values = message.take(entry, as: [Value].self) ?? []
    defer { if !values.isEmpty { message.put(values, in: entry) } }
    let outerEnd = isPacked ? try enter() : reader.end
    while !isPacked || !reader.isAtEnd {
      let bits = try reader.varint()
      if let value = value(Int32(truncatingIfNeeded: bits)) {
        values.append(value)
      } else {
        keep(field(entry.number, of: bits, isPacked: isPacked), in: message)
      }
      if !isPacked, !repeats(key) { break }
    }
    reader.end = outerEnd
  }

  private mutating func messages(
    _ entry: TableEntry,
    of table: TableData,
    into message: ObjectSlots
  ) throws(DecodeError) {
    let nested = table.message(of: entry)
    let classes = reader.classes
    if !message.hasReference(entry.offset), classes.messages.isKnown {
      var isFirst = true
      let count = entry.type == .message ? run(of: entry.key) : 1
      try message.make(entry, classes.messages, classes, count: count) { () throws(DecodeError) in
        if !isFirst { _ = repeats(entry.key) }
        isFirst = false
        return try element(entry, of: nested)
      }
      guard repeats(entry.key) else { return }
    }
    var values = message.take(entry, as: [MessageStorage].self) ?? []
    defer { if !values.isEmpty { message.put(values, in: entry) } }
    repeat { values.append(try element(entry, of: nested)) } while repeats(entry.key)
  }

  @inline(__always)
  private mutating func element(_ entry: TableEntry, of table: TableData) throws(DecodeError)
    -> MessageStorage
  {
    let value = MessageStorage(table)
    try content(entry, of: value.object.slots)
    return value
  }
}
