extension TableDecoder {
  /// Reads the items of a MessageSet: groups that hold the number of an extension and its message. Extensions may also
  /// be ordinary fields.
  mutating func messageSet(
    into message: inout TableMessage,
    _ table: TableData,
    group: Int32
  ) throws(DecodeError) {
    while try nextField(group: group) {
      do throws(DecodeError) {
        if tag.number == 1, tag.has(.startGroup) {
          try item(into: &message, table)
        } else if tag.has(.lengthDelimited), let index = table.index(of: tag.number) {
          try item(table.entries[index], of: table, into: &message)
        } else {
          try unknown(in: &message)
        }
      } catch {
        throw error.inside(table.names.name(of: tag.number))
      }
    }
  }

  private mutating func item(into message: inout TableMessage, _ table: TableData) throws(DecodeError) {
    let start = fieldStart
    guard enterLevel() else { throw DecodeError(.nestedTooDeep) }
    let (typeID, payload) = try itemParts()
    leaveLevel()
    guard let typeID, let payload, let index = table.index(of: typeID) else {
      return keep(from: start, in: &message)
    }
    let after = reader.cursor
    reader.cursor = payload
    try item(table.entries[index], of: table, into: &message)
    reader.cursor = after
  }

  private mutating func item(
    _ entry: TableEntry,
    of table: TableData,
    into message: inout TableMessage
  ) throws(DecodeError) {
    var value = message.take(entry, as: TableMessage.self) ?? TableMessage(table.message(of: entry))
    try content(of: &value)
    message.put(value, in: entry)
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
