import SwitchboardText

// In JSON: the object of the message, with an additional member `@type` for the type URL. A message whose JSON form is
// not an object becomes the member `value`.
extension Google_Protobuf_Any: CustomJSON {
  mutating func merge(from decoder: inout JSONMessageDecoder) throws(DecodeError) {
    guard let url = try decoder.typesAhead.type(at: decoder.reader) else { return try decoder.emptyObject() }
    guard let table = decoder.types.table(forURL: url) else {
      throw decoder.reader.fail("the type registry does not contain \"\(url)\"")
    }
    value = try decoder.packed(table)
    typeURL = url
  }

  func encode(to encoder: inout JSONMessageEncoder) throws(EncodeError) {
    if typeURL.isEmpty, value.isEmpty { return encoder.writer.verbatim("{}") }
    guard let table = encoder.options.typeRegistry.table(forURL: typeURL) else {
      throw EncodeError(.unrepresentable("an Any whose type is not in the registry: \"\(typeURL)\""))
    }
    try encoder.unpacked(self, as: table)
  }
}

extension JSONMessageDecoder {
  /// Reads an object without members: an empty `Any`.
  fileprivate mutating func emptyObject() throws(DecodeError) {
    var isFirst = true
    try reader.enter(UInt8(ascii: "{"))
    if try reader.hasNext(UInt8(ascii: "}"), isFirst: &isFirst) {
      throw reader.fail("an Any needs \"@type\"")
    }
  }

  /// Reads a message and its `@type`. Returns it in binary.
  fileprivate mutating func packed(_ table: TableData) throws(DecodeError) -> [UInt8] {
    try objects.claim(table)
    var message = MessageStorage(table)
    if table.form != nil {
      try valueMember(into: &message)
    } else {
      try object(into: &message, ignoring: JSONTypesAhead.key)
    }
    do {
      // Deterministic, as all `Any`s that are made here.
      return try message.serializedBytes(partial: true, options: .deterministic)
    } catch {
      throw reader.fail("\(error)")
    }
  }

  /// Reads an object whose member `value` is the message.
  private mutating func valueMember(into message: inout MessageStorage) throws(DecodeError) {
    var isFirst = true
    var (hasValue, hasType) = (false, false)
    try reader.enter(UInt8(ascii: "{"))
    while try reader.hasNext(UInt8(ascii: "}"), isFirst: &isFirst) {
      let start = reader.position
      let name = try reader.string()
      try reader.expect(UInt8(ascii: ":"))
      let (isValue, isType) = (name.isExactly("value"), name.isExactly(JSONTypesAhead.key))
      guard isValue && !hasValue || isType && !hasType || !isValue && !isType && reader.ignoresUnknown else {
        throw reader.fail("unexpected \"\(name)\" in an Any with a value", at: start)
      }
      if isValue { try message.merge(from: &self) } else { try reader.skipValue() }
      (hasValue, hasType) = (hasValue || isValue, hasType || isType)
    }
    guard hasValue else { throw reader.fail("an Any that holds \(message.table.fullName) needs \"value\"") }
  }
}

extension JSONMessageEncoder {
  /// Writes the message in an `Any`.
  fileprivate mutating func unpacked(
    _ any: Google_Protobuf_Any,
    as table: TableData
  ) throws(EncodeError) {
    var message = MessageStorage(table)
    let limits = try limits()
    do throws(DecodeError) {
      let extensions = options.typeRegistry.extensions
      try message.merge(any.value.span.bytes, extensions: extensions, options: limits)
    } catch {
      throw EncodeError(.unrepresentable("an Any whose value does not match its type: \(error)"))
    }
    guard table.form != nil else {
      return try object(message) { encoder in
        encoder.member(JSONTypesAhead.key, any.typeURL)
        return true
      }
    }
    depth += 1
    writer.byte(UInt8(ascii: "{"))
    member(JSONTypesAhead.key, any.typeURL)
    writer.verbatim(",\"value\":")
    try message.encode(to: &self)
    writer.byte(UInt8(ascii: "}"))
    depth -= 1
  }

  private mutating func member(_ name: String, _ value: String) {
    writer.string(name)
    writer.byte(UInt8(ascii: ":"))
    writer.string(value)
  }

  /// The nesting of the bytes in an `Any` was not checked when these were read: the limit applies to the whole.
  private func limits() throws(EncodeError) -> BinaryDecodingOptions {
    var limits = BinaryDecodingOptions()
    limits.messageDepthLimit -= depth
    guard limits.messageDepthLimit > 0 else { throw EncodeError(.unrepresentable("an Any nested too deep")) }
    return limits
  }
}
