// unsafe: the cursor over memory: each field reserves what it writes; long values are lent

// Writes the fields of messages by their tables: the value of a field, then its length, then its tag.
extension BinaryEncoder {
  /// Writes the fields of a message, the last first.
  @inline(never)
  mutating func fields(
    of message: ObjectSlots,
    _ cursor: ReverseCursor
  ) -> ReverseCursor {
    var cursor = cursor
    let table = message.table
    if message.hasReference(MessageObject.Offsets.unknown) {
      cursor = raw(message.bytes(MessageObject.Offsets.unknown), cursor)
    }
    if table.isExtensible || table.isMessageSet { return extensibleFields(of: message, table, cursor) }
    let entries = table.entries
    var index = entries.count
    while index > 0 {
      index &-= 1
      field(entries[index], of: message, table, &cursor)
    }
    return cursor
  }

  @inline(never)
  private mutating func extensibleFields(
    of message: ObjectSlots,
    _ table: TableData,
    _ start: ReverseCursor
  ) -> ReverseCursor {
    cursor = start
    if table.isMessageSet {
      messageSet(message.storage.messageSetItems)
      return cursor
    }
    let extensions = message.storage.extensionFields
    var bound = Int32.max
    for entry in table.entries.reversed() {
      self.extensions(extensions, in: entry.number..<bound)
      var next = cursor
      field(entry, of: message, table, &next)
      cursor = next
      bound = entry.number
    }
    self.extensions(extensions, in: 0..<bound)
    return cursor
  }

  @inline(__always)
  private mutating func field(
    _ entry: TableEntry,
    of message: ObjectSlots,
    _ table: TableData,
    _ cursor: inout ReverseCursor
  ) {
    switch entry.shape {
    case .singular:
      if entry.presence == .bit, !message.bit(entry.bit) { return }
    case .oneof:
      if message.member(entry.offset) != entry.number { return }
    case .repeated:
      if message.hasReference(entry.offset) { cursor = elements(entry, of: message, table, cursor) }
      return
    case .map:
      if message.hasReference(entry.offset) { cursor = map(entry, of: message, table, cursor) }
      return
    }
    value(entry, of: message, &cursor)
  }

  // MARK: Singular

  /// Writes a value, unless it is nil, or the default of a field without presence.
  @inline(__always)
  private mutating func value(
    _ entry: TableEntry,
    of message: ObjectSlots,
    _ cursor: inout ReverseCursor
  ) {
    reserve(&cursor)
    switch entry.type {
    case .int32, .enumeration:
      number(UInt64(bitPattern: Int64(message.slot(entry, as: Int32.self).pointee)), entry, &cursor)
    case .uint32: number(UInt64(message.slot(entry, as: UInt32.self).pointee), entry, &cursor)
    case .int64, .uint64: number(message.slot(entry, as: UInt64.self).pointee, entry, &cursor)
    case .sint32: number(ProtoSInt32.bits(of: message.slot(entry, as: Int32.self).pointee), entry, &cursor)
    case .sint64: number(ProtoSInt64.bits(of: message.slot(entry, as: Int64.self).pointee), entry, &cursor)
    case .bool: number(UInt64(message.slot(entry, as: UInt8.self).pointee), entry, &cursor)
    case .fixed32, .sfixed32, .float:
      let value = message.slot(entry, as: UInt32.self).pointee
      if value == 0, entry.presence == .implicit { return }
      cursor.fixed(value)
      cursor.tag(entry.tag)
    case .fixed64, .sfixed64, .double:
      let value = message.slot(entry, as: UInt64.self).pointee
      if value == 0, entry.presence == .implicit { return }
      cursor.fixed(value)
      cursor.tag(entry.tag)
    case .string:
      let slot = message.slot(entry, as: SmallString.Words.self)
      if slot.pointee.high == 0 { return }
      string(slot, entry.tag, isOptional: entry.presence != .implicit, &cursor)
    case .bytes:
      if !message.hasReference(entry.offset) { return }
      let bytes = message.bytes(entry.offset)
      if bytes.isEmpty, entry.presence == .implicit { return }
      self.bytes(bytes, entry.tag, &cursor)
    case .message:
      if message.hasReference(entry.offset) {
        cursor = nested(message.nested(entry.offset), entry.tag, cursor)
      }
    case .group:
      if message.hasReference(entry.offset) {
        cursor = group(message.nested(entry.offset), number: entry.number, cursor)
      }
    }
  }

  @inline(__always)
  private func number(_ value: UInt64, _ entry: TableEntry, _ cursor: inout ReverseCursor) {
    if value == 0, entry.presence == .implicit { return }
    cursor.varint(value)
    cursor.tag(entry.tag)
  }

  @inline(__always)
  mutating func bytes(_ value: UnsafeRawBufferPointer, _ tag: EncodedTag, _ cursor: inout ReverseCursor) {
    cursor = raw(value, cursor)
    length(value.count, tag, &cursor)
  }

  @inline(never)
  mutating func nested(
    _ message: ObjectSlots,
    _ tag: EncodedTag,
    _ cursor: ReverseCursor
  ) -> ReverseCursor {
    let before = count(cursor)
    var cursor = fields(of: message, cursor)
    length(count(cursor) &- before, tag, &cursor)
    return cursor
  }

  @inline(never)
  private mutating func group(
    _ message: ObjectSlots,
    number: Int32,
    _ cursor: ReverseCursor
  ) -> ReverseCursor {
    var cursor = cursor
    reserve(&cursor)
    cursor.tag(EncodedTag(number, .endGroup))
    cursor = fields(of: message, cursor)
    reserve(&cursor)
    cursor.tag(EncodedTag(number, .startGroup))
    return cursor
  }

  // MARK: Repeated

  @inline(never)
  private mutating func elements(
    _ entry: TableEntry,
    of message: ObjectSlots,
    _ table: TableData,
    _ cursor: ReverseCursor
  ) -> ReverseCursor {
    var cursor = cursor
    switch entry.type {
    case .message:
      for value in message.elements(entry, as: ObjectSlots.self).reversed() {
        cursor = nested(value, entry.tag, cursor)
      }
    case .group:
      for value in message.elements(entry, as: ObjectSlots.self).reversed() {
        cursor = group(value, number: entry.number, cursor)
      }
    case .string:
      let values = message.elements(entry, as: SmallString.Words.self)
      var index = values.count
      while index > 0 {
        index &-= 1
        reserve(&cursor)
        string(values.baseAddress.unsafelyUnwrapped + index, entry.tag, isOptional: true, &cursor)
      }
    case .bytes:
      for value in message.elements(entry, as: ArrayMemory.self).reversed() {
        bytes(value.bytes, entry.tag, &cursor)
      }
    case .enumeration:
      if let type = table.enumType(of: entry) { return enums(entry, of: message, as: type, cursor) }
      numbers(entry, of: message, as: Int32.self, &cursor) { UInt64(bitPattern: Int64($0)) }
    case .int32: numbers(entry, of: message, as: Int32.self, &cursor) { UInt64(bitPattern: Int64($0)) }
    case .int64, .uint64: numbers(entry, of: message, as: UInt64.self, &cursor) { $0 }
    case .uint32: numbers(entry, of: message, as: UInt32.self, &cursor) { UInt64($0) }
    case .sint32: numbers(entry, of: message, as: Int32.self, &cursor) { ProtoSInt32.bits(of: $0) }
    case .sint64: numbers(entry, of: message, as: Int64.self, &cursor) { ProtoSInt64.bits(of: $0) }
    case .bool: numbers(entry, of: message, as: UInt8.self, &cursor) { UInt64($0) }
    case .fixed32, .sfixed32, .float: fixed(entry, of: message, as: UInt32.self, &cursor)
    case .fixed64, .sfixed64, .double: fixed(entry, of: message, as: UInt64.self, &cursor)
    }
    return cursor
  }

  /// Writes elements of a generated enum, which the array contains as enum values.
  private mutating func enums<E: Enum>(
    _ entry: TableEntry,
    of message: ObjectSlots,
    as type: E.Type,
    _ cursor: ReverseCursor
  ) -> ReverseCursor {
    var cursor = cursor
    numbers(entry, of: message, as: E.self, &cursor) {
      UInt64(bitPattern: Int64(Int32(truncatingIfNeeded: $0.rawValue)))
    }
    return cursor
  }

  /// Writes numbers as varints. `bits` returns the bits of an element.
  @inline(__always)
  private mutating func numbers<Element>(
    _ entry: TableEntry,
    of message: ObjectSlots,
    as type: Element.Type,
    _ cursor: inout ReverseCursor,
    bits: (Element) -> UInt64
  ) {
    let values = message.elements(entry, as: type)
    let before = count(cursor)
    var index = values.count
    while index > 0 {
      index &-= 1
      reserve(&cursor)
      cursor.varint(bits(values[index]))
      if !entry.isPacked { cursor.tag(entry.tag) }
    }
    if entry.isPacked, !values.isEmpty { length(count(cursor) &- before, entry.tag, &cursor) }
  }

  /// Writes numbers of fixed width.
  @inline(__always)
  private mutating func fixed<Bits: FixedWidthInteger & BitwiseCopyable>(
    _ entry: TableEntry,
    of message: ObjectSlots,
    as type: Bits.Type,
    _ cursor: inout ReverseCursor
  ) {
    let values = message.elements(entry, as: type)
    let before = count(cursor)
    var index = values.count
    while index > 0 {
      index &-= 1
      reserve(&cursor)
      cursor.fixed(values[index])
      if !entry.isPacked { cursor.tag(entry.tag) }
    }
    if entry.isPacked, !values.isEmpty { length(count(cursor) &- before, entry.tag, &cursor) }
  }
}

// Writes extensions, and the parts of fields that are written in the same way.
extension BinaryEncoder: FieldVisitor {
  mutating func explicit<S: ScalarType>(
    _ value: S.Value?,
    as type: S.Type,
    number: Int32
  ) {
    if let value { scalar(value, as: type, number: number) }
  }

  private mutating func scalar<S: ScalarType>(
    _ value: S.Value,
    as type: S.Type,
    number: Int32
  ) {
    forward(S.size(of: value)) { S.write(value, to: &$0) }
    tag(EncodedTag(number, S.wireType))
  }

  mutating func repeated<S: ScalarType>(
    _ values: [S.Value],
    as type: S.Type,
    number: Int32
  ) {
    for index in stride(from: values.count - 1, through: 0, by: -1) {
      scalar(values[index], as: type, number: number)
    }
  }

  mutating func packed<S: ScalarType>(
    _ values: [S.Value],
    as type: S.Type,
    number: Int32
  ) {
    guard !values.isEmpty else { return }
    var length = 0
    for value in values { length &+= S.size(of: value) }
    forward(length) { S.writePacked(values, length: length, to: &$0) }
    var next = cursor
    self.length(length, EncodedTag(number, .lengthDelimited), &next)
    cursor = next
  }

  // MARK: Messages

  mutating func message(_ value: MessageStorage?, number: Int32) {
    if let value {
      cursor = value.read { slots in nested(slots, EncodedTag(number, .lengthDelimited), cursor) }
    }
  }

  mutating func messages(_ values: [MessageStorage], number: Int32) {
    for value in values.reversed() { message(value, number: number) }
  }

  mutating func group(_ value: MessageStorage?, number: Int32) {
    if let value { cursor = value.read { slots in group(slots, number: number, cursor) } }
  }

  mutating func groups(_ values: [MessageStorage], number: Int32) {
    for value in values.reversed() { group(value, number: number) }
  }

  // MARK: Extensions

  private mutating func extensions(_ fields: ExtensionFields, in range: Range<Int32>) {
    attempt { encoder throws(EncodeError) in
      try fields.forEach(in: range, reversed: true) { entry throws(EncodeError) in
        try entry.traverse(&encoder)
      }
    }
  }

  private mutating func messageSet(_ fields: ExtensionFields) {
    attempt { encoder throws(EncodeError) in
      try fields.forEachMessage { number, message in
        encoder.tag(EncodedTag(1, .endGroup))
        encoder.message(message, number: 3)
        encoder.scalar(UInt32(bitPattern: number), as: ProtoUInt32.self, number: 2)
        encoder.tag(EncodedTag(1, .startGroup))
      }
    }
  }

  private mutating func tag(_ tag: EncodedTag) {
    var next = cursor
    reserve(&next)
    next.tag(tag)
    cursor = next
  }

  /// Stores an error of `body` until the end.
  private mutating func attempt(_ body: (inout BinaryEncoder) throws(EncodeError) -> Void) {
    do throws(EncodeError) { try body(&self) } catch { fail(error) }
  }
}
