extension BinaryDecoder {
  public mutating func extensionField<M: ExtensibleMessage>(
    _ number: Int32,
    of type: M.Type,
    into fields: inout ExtensionFields
  ) throws(DecodeError) {
    guard let field = extensions?.field(of: type, number: number) else { return }
    try field.decode(into: &fields, from: &self)
  }

  /// Reads an item of a MessageSet: a group with the number of an extension and its message.
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
    guard let typeID = item.typeID, !item.payloads.isEmpty,
      let field = extensions?.field(of: type, number: typeID)
    else { return displace(from: start) }

    // The payloads are read as if each were the length-delimited field of the extension.
    for payload in item.payloads {
      reader.cursor = payload
      tag = Tag(number: typeID, .lengthDelimited)
      try field.decode(into: &fields, from: &self)
    }
    reader.cursor = after
    isTaken = true
  }

  /// The type and the places of the messages in an item, which may come in either order.
  private mutating func messageSetItem() throws(DecodeError) -> (typeID: Int32?, payloads: [UnsafeRawPointer])
  {
    var typeID: Int32?
    var payloads: [UnsafeRawPointer] = []
    while try nextField() {
      if tag.number == 2, let value = try scalar(ProtoInt32.self) { typeID = value }
      if tag.number == 3, tag.has(.lengthDelimited) { payloads.append(reader.cursor) }
      if !isTaken { try skipValue() }
    }
    return (typeID, payloads)
  }
}
