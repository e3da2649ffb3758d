extension BinaryDecoder {
  /// Reads the items of a MessageSet: groups that hold the number of an extension and its message. Extensions may also
  /// be ordinary fields.
  mutating func messageSet(
    into message: ObjectSlots,
    _ table: TableData,
    group: Int32
  ) throws(DecodeError) {
    while try nextField(group: group) {
      do throws(DecodeError) {
        if tag.number == 1, tag.has(.startGroup) {
          try item(into: message, table)
        } else if tag.has(.lengthDelimited), let entry = table.entry(tag.number) {
          try content(of: message.message(entry, of: table))
        } else if let field = extensionField(tag.number, of: table) {
          try value(of: field, into: message)
        } else {
          try unknown(in: message)
        }
      } catch {
        throw error.inside(table.names.name(of: tag.number))
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
    if let entry = table.entry(typeID) {
      reader.cursor = payload
      try content(of: message.message(entry, of: table))
    } else if let field = extensionField(typeID, of: table) {
      // Reads the content like a length-delimited field of the extension.
      reader.cursor = payload
      restore(Tag(number: typeID, .lengthDelimited))
      try value(of: field, into: message)
    } else {
      return keep(from: start, in: message)
    }
    reader.cursor = after
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
