// Reads the values of generated extensions, which are not in the table of the message.
extension BinaryDecoder {
  /// The extension of a message with a number, if the registry has one.
  func extensionField(_ number: Int32, of table: TableData) -> (any AnyMessageExtension)? {
    table.isExtensible ? extensions?.field(of: table, number: number) : nil
  }

  /// Reads the value of the current field as that of an extension.
  mutating func value(
    of field: any AnyMessageExtension,
    into message: ObjectSlots
  ) throws(DecodeError) {
    isTaken = false
    try field.decode(into: &message.extensions.pointee[or: ExtensionFields()], from: &self)
    if !isTaken { try unknown(in: message) }
    if !displaced.isEmpty { keep(displaced, in: message) }
    displaced = []
  }
}

// A value with an unexpected wire type is left as unknown.
extension BinaryDecoder: FieldDecoder {
  mutating func singular<S: ScalarType>(_ value: inout S.Value, as type: S.Type) throws(DecodeError) {
    if let new = try scalar(type) { value = new }
  }

  mutating func optional<S: ScalarType>(_ value: inout S.Value?, as type: S.Type) throws(DecodeError) {
    if let new = try scalar(type) { value = new }
  }

  /// Reads the value of the current field, or returns nil if its wire type does not fit.
  private mutating func scalar<S: ScalarType>(_ type: S.Type) throws(DecodeError) -> S.Value? {
    guard tag.has(S.wireType) else { return nil }
    isTaken = true
    return try value(type, isPacked: false)
  }

  /// Reads a value. A number that a closed enum does not define is set aside.
  private mutating func value<S: ScalarType>(
    _ type: S.Type,
    isPacked: Bool
  ) throws(DecodeError) -> S.Value? {
    let start = reader.cursor
    if let value = try S.read(from: &reader) { return value }
    var again = reader
    again.cursor = start
    displaced += field(tag.number, of: try again.varint(), isPacked: isPacked)
    return nil
  }

  mutating func repeated<S: ScalarType>(_ values: inout [S.Value], as type: S.Type) throws(DecodeError) {
    if S.isPackable, tag.has(.lengthDelimited) {
      isTaken = true
      let outerEnd = try enter()
      while !reader.isAtEnd {
        if let value = try value(type, isPacked: true) { values.append(value) }
      }
      reader.end = outerEnd
    } else if let value = try scalar(type) {
      values.append(value)
    }
  }

  mutating func message(_ value: inout MessageStorage?, of table: TableData) throws(DecodeError) {
    guard tag.has(.lengthDelimited) else { return }
    try content(&value[or: MessageStorage(table)], isGroup: false)
  }

  mutating func messages(_ values: inout [MessageStorage], of table: TableData) throws(DecodeError) {
    guard tag.has(.lengthDelimited) else { return }
    values.append(MessageStorage(table))
    try content(&values[values.count - 1], isGroup: false)
  }

  mutating func group(_ value: inout MessageStorage?, of table: TableData) throws(DecodeError) {
    guard tag.has(.startGroup) else { return }
    try content(&value[or: MessageStorage(table)], isGroup: true)
  }

  mutating func groups(_ values: inout [MessageStorage], of table: TableData) throws(DecodeError) {
    guard tag.has(.startGroup) else { return }
    values.append(MessageStorage(table))
    try content(&values[values.count - 1], isGroup: true)
  }

  private mutating func content(_ message: inout MessageStorage, isGroup: Bool) throws(DecodeError) {
    let outer = (tag, displaced)
    displaced = []
    try message.change { slots throws(DecodeError) in
      if isGroup { try group(tag.number, into: slots) } else { try content(of: slots) }
    }
    restore(outer.0)
    displaced = outer.1
    isTaken = true
  }
}

extension BinaryDecoder {
  /// Reads a message after its tag.
  mutating func content(of message: inout MessageStorage) throws(DecodeError) {
    try message.change { slots throws(DecodeError) in try content(of: slots) }
  }
}

extension ExtensionRegistry {
  /// The extension of a generated message with a number.
  func field(of table: TableData, number: Int32) -> (any AnyMessageExtension)? {
    (table.details.type as? any ExtensibleMessage.Type).flatMap { field(of: $0, number: number) }
      .flatMap(table.held)
  }

  /// The extension of a generated message with a full name.
  func field(of table: TableData, fullName: String) -> (any AnyMessageExtension)? {
    (table.details.type as? any ExtensibleMessage.Type).flatMap { field(of: $0, fullName: fullName) }
      .flatMap(table.held)
  }
}
