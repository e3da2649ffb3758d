extension BinaryDecoder {
  public mutating func extensionField<M: ExtensibleMessage>(
    _ number: Int32,
    of type: M.Type,
    into fields: inout ExtensionFields
  ) throws(DecodeError) {
    guard let field = extensions?.field(of: type, number: number) else { return }
    try field.decode(into: &fields, from: &self)
  }

  /// Reads an item of a MessageSet: a group that holds the number of an extension and its message.
  public mutating func messageSetField<M: ExtensibleMessage>(
    _ number: Int32,
    of type: M.Type,
    into fields: inout ExtensionFields
  ) throws(DecodeError) {
    guard number == 1, tag.has(.startGroup) else {
      return try extensionField(number, of: type, into: &fields)
    }
    let start = fieldStart
    let outer = try enterGroup()
    let item = try messageSetItem()
    let after = reader.cursor
    leave(to: outer)
    guard let typeID = item.typeID, let payload = item.payload,
      let field = extensions?.field(of: type, number: typeID)
    else { return displace(from: start) }

    // The payload is read as if it were the length-delimited field of the extension.
    reader.cursor = payload
    tag = Tag(number: typeID, .lengthDelimited)
    try field.decode(into: &fields, from: &self)
    reader.cursor = after
    isTaken = true
  }

  /// Finds the type ID and the start of the message in an item. They may come in either order; if one is repeated, the
  /// first counts.
  private mutating func messageSetItem() throws(DecodeError) -> (typeID: Int32?, payload: UnsafeRawPointer?) {
    var typeID: Int32?
    var payload: UnsafeRawPointer?
    while try nextField() {
      if tag.number == 2, let value = try scalar(ProtoInt32.self) { typeID = typeID ?? value }
      if tag.number == 3, tag.has(.lengthDelimited) { payload = payload ?? reader.cursor }
      if !isTaken { try skipValue() }
    }
    return (typeID, payload)
  }
}
