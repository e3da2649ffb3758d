// Writes the fields of messages by their tables: the value of a field, then its length, then its tag.
extension BinaryEncoder {
  /// Writes the fields of a message, the last first.
  mutating func fields(of message: ObjectSlots) throws(EncodeError) {
    let table = message.table
    if message.hasReference(MessageObject.Offsets.unknown) {
      try raw(message.bytes(MessageObject.Offsets.unknown))
    }
    if table.isExtensible || table.isMessageSet { return try extensibleFields(of: message, table) }
    let entries = table.entries
    var index = entries.count
    while index > 0 {
      index &-= 1
      try field(entries[index], of: message, table)
    }
  }

  @inline(never)
  private mutating func extensibleFields(of message: ObjectSlots, _ table: TableData) throws(EncodeError) {
    if table.isMessageSet { return try messageSet(message.storage.messageSetItems) }
    let extensions = message.storage.extensionFields
    var bound = Int32.max
    for entry in table.entries.reversed() {
      try self.extensions(extensions, in: entry.number..<bound)
      try field(entry, of: message, table)
      bound = entry.number
    }
    try self.extensions(extensions, in: 0..<bound)
  }

  @inline(__always)
  private mutating func field(
    _ entry: TableEntry,
    of message: ObjectSlots,
    _ table: TableData
  ) throws(EncodeError) {
    switch entry.shape {
    case .singular:
      if entry.presence != .bit || message.bit(entry.bit) { try value(entry, of: message) }
    case .oneof:
      if message.member(entry.offset) == entry.number { try value(entry, of: message) }
    case .repeated:
      if message.hasReference(entry.offset) { try elements(entry, of: message, table) }
    case .map:
      if message.hasReference(entry.offset) { try map(entry, of: message, table) }
    }
  }

  // MARK: Singular

  /// Writes a value, unless it is nil, or the default of a field without presence.
  @inline(__always)
  private mutating func value(_ entry: TableEntry, of message: ObjectSlots) throws(EncodeError) {
    switch entry.type {
    case .int32, .enumeration:
      let value = message.slot(entry, as: Int32.self).pointee
      try number(UInt64(bitPattern: Int64(value)), entry)
    case .uint32: try number(UInt64(message.slot(entry, as: UInt32.self).pointee), entry)
    case .int64, .uint64: try number(message.slot(entry, as: UInt64.self).pointee, entry)
    case .sint32: try number(ProtoSInt32.bits(of: message.slot(entry, as: Int32.self).pointee), entry)
    case .sint64: try number(ProtoSInt64.bits(of: message.slot(entry, as: Int64.self).pointee), entry)
    case .bool: try number(UInt64(message.slot(entry, as: UInt8.self).pointee), entry)
    case .fixed32, .sfixed32, .float:
      let value = message.slot(entry, as: UInt32.self).pointee
      if value == 0, entry.presence == .implicit { return }
      try reserve()
      fixed(value)
      tag(entry.tag)
    case .fixed64, .sfixed64, .double:
      let value = message.slot(entry, as: UInt64.self).pointee
      if value == 0, entry.presence == .implicit { return }
      try reserve()
      fixed(value)
      tag(entry.tag)
    case .string:
      let slot = message.slot(entry, as: SmallString.Words.self)
      if slot.pointee.high == 0 { return }
      try string(slot, entry.tag, isOptional: entry.presence != .implicit)
    case .bytes:
      if !message.hasReference(entry.offset) { return }
      let bytes = message.bytes(entry.offset)
      if bytes.isEmpty, entry.presence == .implicit { return }
      try self.bytes(bytes, entry.tag)
    case .message:
      if message.hasReference(entry.offset) { try nested(message.nested(entry.offset), entry.tag) }
    case .group:
      if message.hasReference(entry.offset) { try group(message.nested(entry.offset), number: entry.number) }
    }
  }

  @inline(__always)
  private mutating func number(_ value: UInt64, _ entry: TableEntry) throws(EncodeError) {
    if value == 0, entry.presence == .implicit { return }
    try number(value, entry.tag)
  }

  @inline(__always)
  private mutating func number(_ value: UInt64, _ tag: EncodedTag) throws(EncodeError) {
    try reserve()
    varint(value)
    self.tag(tag)
  }

  private mutating func bytes(_ value: UnsafeRawBufferPointer, _ tag: EncodedTag) throws(EncodeError) {
    try raw(value)
    try length(of: value.count, tag)
  }

  private mutating func nested(_ message: ObjectSlots, _ tag: EncodedTag) throws(EncodeError) {
    let before = count
    try fields(of: message)
    try length(of: count - before, tag)
  }

  private mutating func group(_ message: ObjectSlots, number: Int32) throws(EncodeError) {
    try reserve()
    tag(EncodedTag(number, .endGroup))
    try fields(of: message)
    try reserve()
    tag(EncodedTag(number, .startGroup))
  }

  // MARK: Repeated

  private mutating func elements(
    _ entry: TableEntry,
    of message: ObjectSlots,
    _ table: TableData
  ) throws(EncodeError) {
    switch entry.type {
    case .message:
      for value in message.elements(entry, as: ObjectSlots.self).reversed() { try nested(value, entry.tag) }
    case .group:
      for value in message.elements(entry, as: ObjectSlots.self).reversed() {
        try group(value, number: entry.number)
      }
    case .string:
      let values = message.elements(entry, as: SmallString.Words.self)
      var index = values.count
      while index > 0 {
        index &-= 1
        try string(values.baseAddress.unsafelyUnwrapped + index, entry.tag, isOptional: true)
      }
    case .bytes:
      for value in message.elements(entry, as: ArrayMemory.self).reversed() {
        try bytes(value.bytes, entry.tag)
      }
    case .enumeration:
      if let type = table.enumType(of: entry) {
        try enums(entry, of: message, as: type)
      } else {
        try numbers(entry, of: message, as: Int32.self) { UInt64(bitPattern: Int64($0)) }
      }
    case .int32: try numbers(entry, of: message, as: Int32.self) { UInt64(bitPattern: Int64($0)) }
    case .int64, .uint64: try numbers(entry, of: message, as: UInt64.self) { $0 }
    case .uint32: try numbers(entry, of: message, as: UInt32.self) { UInt64($0) }
    case .sint32: try numbers(entry, of: message, as: Int32.self) { ProtoSInt32.bits(of: $0) }
    case .sint64: try numbers(entry, of: message, as: Int64.self) { ProtoSInt64.bits(of: $0) }
    case .bool: try numbers(entry, of: message, as: UInt8.self) { UInt64($0) }
    case .fixed32, .sfixed32, .float: try fixed(entry, of: message, as: UInt32.self)
    case .fixed64, .sfixed64, .double: try fixed(entry, of: message, as: UInt64.self)
    }
  }

  /// Writes the elements of a generated enum, whose values are in the array.
  private mutating func enums<E: Enum>(
    _ entry: TableEntry,
    of message: ObjectSlots,
    as type: E.Type
  ) throws(EncodeError) {
    try numbers(entry, of: message, as: E.self) {
      UInt64(bitPattern: Int64(Int32(truncatingIfNeeded: $0.rawValue)))
    }
  }

  /// Writes numbers as varints. `bits` returns what is written for an element.
  @inline(__always)
  private mutating func numbers<Element>(
    _ entry: TableEntry,
    of message: ObjectSlots,
    as type: Element.Type,
    bits: (Element) -> UInt64
  ) throws(EncodeError) {
    let values = message.elements(entry, as: type)
    let before = count
    var index = values.count
    while index > 0 {
      index &-= 1
      try reserve()
      varint(bits(values[index]))
      if !entry.isPacked { tag(entry.tag) }
    }
    if entry.isPacked, count != before { try length(of: count - before, entry.tag) }
  }

  /// Writes numbers of fixed width.
  @inline(__always)
  private mutating func fixed<Bits: FixedWidthInteger & BitwiseCopyable>(
    _ entry: TableEntry,
    of message: ObjectSlots,
    as type: Bits.Type
  ) throws(EncodeError) {
    let values = message.elements(entry, as: type)
    let before = count
    var index = values.count
    while index > 0 {
      index &-= 1
      try reserve()
      fixed(values[index])
      if !entry.isPacked { tag(entry.tag) }
    }
    if entry.isPacked, count != before { try length(of: count - before, entry.tag) }
  }
}

// What extensions are written by, and what the fields of a table share with them.
extension BinaryEncoder: FieldVisitor {
  mutating func explicit<S: ScalarType>(
    _ value: S.Value?,
    as type: S.Type,
    number: Int32
  ) throws(EncodeError) {
    if let value { try scalar(value, as: type, number: number) }
  }

  private mutating func scalar<S: ScalarType>(
    _ value: S.Value,
    as type: S.Type,
    number: Int32
  ) throws(EncodeError) {
    try forward(S.size(of: value)) { S.write(value, to: &$0) }
    try reserve()
    tag(EncodedTag(number, S.wireType))
  }

  mutating func repeated<S: ScalarType>(
    _ values: [S.Value],
    as type: S.Type,
    number: Int32
  ) throws(EncodeError) {
    for index in stride(from: values.count - 1, through: 0, by: -1) {
      try scalar(values[index], as: type, number: number)
    }
  }

  mutating func packed<S: ScalarType>(
    _ values: [S.Value],
    as type: S.Type,
    number: Int32
  ) throws(EncodeError) {
    guard !values.isEmpty else { return }
    var length = 0
    for value in values { length &+= S.size(of: value) }
    try forward(length) { S.writePacked(values, length: length, to: &$0) }
    try self.length(of: length, EncodedTag(number, .lengthDelimited))
  }

  // MARK: Messages

  mutating func message(_ value: MessageStorage?, number: Int32) throws(EncodeError) {
    if let value {
      try value.read { slots throws(EncodeError) in try nested(slots, EncodedTag(number, .lengthDelimited)) }
    }
  }

  mutating func messages(_ values: [MessageStorage], number: Int32) throws(EncodeError) {
    for value in values.reversed() { try message(value, number: number) }
  }

  mutating func group(_ value: MessageStorage?, number: Int32) throws(EncodeError) {
    if let value { try value.read { slots throws(EncodeError) in try group(slots, number: number) } }
  }

  mutating func groups(_ values: [MessageStorage], number: Int32) throws(EncodeError) {
    for value in values.reversed() { try group(value, number: number) }
  }

  // MARK: Extensions

  mutating func extensions(_ fields: ExtensionFields, in range: Range<Int32>) throws(EncodeError) {
    try fields.forEach(in: range, reversed: true) { entry throws(EncodeError) in try entry.traverse(&self) }
  }

  mutating func messageSet(_ fields: ExtensionFields) throws(EncodeError) {
    try fields.forEachMessage { (number, message) throws(EncodeError) in
      try reserve()
      tag(EncodedTag(1, .endGroup))
      try self.message(message, number: 3)
      try scalar(UInt32(bitPattern: number), as: ProtoUInt32.self, number: 2)
      try reserve()
      tag(EncodedTag(1, .startGroup))
    }
  }
}
