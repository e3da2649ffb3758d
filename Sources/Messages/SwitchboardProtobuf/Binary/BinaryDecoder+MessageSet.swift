// unsafe: marks places in the bytes being read, to copy from them

extension BinaryDecoder {
  /// Reads the items of a MessageSet: groups that hold the number of an extension and its message. Extensions may also
  /// be ordinary fields.
  mutating func messageSet(
    into message: ObjectSlots,
    _ table: TableData,
    group: Int32
  ) throws(DecodeError) {
    while try nextField(group: group) {
      if tag.number == 1, tag.has(.startGroup) {
        try item(into: message, table)
      } else if tag.has(.lengthDelimited), try content(of: tag.number, into: message, table) {
        continue
      } else {
        try unknown(in: message)
      }
    }
  }

  private mutating func item(into message: ObjectSlots, _ table: TableData) throws(DecodeError) {
    let start = fieldStart
    guard enterLevel() else { throw DecodeError(.nestedTooDeep) }
    let (typeID, payload) = try itemParts()
    leaveLevel()
    guard let typeID, let payload else { return keep(from: start, in: message) }
    let after = reader.cursor
    reader.cursor = payload
    let isKnown = try content(of: typeID, into: message, table)
    reader.cursor = after
    if !isKnown { keep(from: start, in: message) }
  }

  /// Reads the message of an extension, whose length comes next. Returns false if there is no such extension.
  private mutating func content(
    of number: Int32,
    into message: ObjectSlots,
    _ table: TableData
  ) throws(DecodeError) -> Bool {
    do throws(DecodeError) {
      if let entry = table.entry(number), entry.type == .message, entry.shape == .singular {
        try content(of: message.message(entry, of: table))
      } else if let field = extensionField(number, of: table) {
        // The tag says that a message comes. The number may be one that no tag holds, so it is not in the tag.
        restore(Tag(number: 1, .lengthDelimited))
        try value(of: field, into: message)
      } else {
        return false
      }
      return true
    } catch {
      throw error.inside(table.names.name(of: number))
    }
  }

  /// Finds the number of the extension and the start of the message. They may come in either order; if one is repeated,
  /// the first counts.
  private mutating func itemParts() throws(DecodeError) -> (typeID: Int32?, payload: UnsafeRawPointer?) {
    var typeID: Int32?
    var payload: UnsafeRawPointer?
    while try nextField(group: 1) {
      if tag.number == 2, tag.has(.varint) {
        let number = Int32(truncatingIfNeeded: try reader.varint())
        typeID = typeID ?? number
      } else {
        if tag.number == 3, tag.has(.lengthDelimited) { payload = payload ?? reader.cursor }
        try skipValue()
      }
    }
    return (typeID, payload)
  }
}
