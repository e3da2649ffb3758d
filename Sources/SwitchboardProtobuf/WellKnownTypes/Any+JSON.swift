// In JSON: the object of the message, with an additional member `@type` for the type URL. A message whose JSON form is
// not an object becomes the member `value`.
extension Google_Protobuf_Any: CustomJSON {
  public mutating func merge(from decoder: inout JSONMessageDecoder) throws(DecodeError) {
    guard let url = try decoder.typesAhead.type(at: decoder.reader) else { return try decoder.emptyObject() }
    if let type = decoder.types.messageType(forURL: url) {
      value = try decoder.packed(type.init())
    } else if let table = decoder.types.table(forURL: url) {
      value = try decoder.packed(TableMessage(table))
    } else {
      throw decoder.reader.fail("the type registry does not contain \"\(url)\"")
    }
    typeURL = url
  }

  public func encode(to encoder: inout JSONMessageEncoder) throws(EncodeError) {
    if typeURL.isEmpty, value.isEmpty { return encoder.writer.verbatim("{}") }
    if let type = encoder.options.typeRegistry.messageType(forURL: typeURL) {
      try encoder.unpacked(self, as: type)
    } else if let table = encoder.options.typeRegistry.table(forURL: typeURL) {
      try encoder.unpacked(self, as: table)
    } else {
      throw EncodeError(.unrepresentable("an Any whose type is not in the registry: \"\(typeURL)\""))
    }
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

  /// Reads a message and its `@type` into `empty`. Returns it in binary.
  fileprivate mutating func packed<M: Message>(_ empty: M) throws(DecodeError) -> [UInt8] {
    var message = empty
    if M.self is any CustomJSON.Type {
      try valueMember(into: &message)
    } else {
      try object(into: &message, ignoring: JSONTypesAhead.key)
    }
    do {
      return try Google_Protobuf_Any(message: message, partial: true).value
    } catch {
      throw reader.fail("\(error)")
    }
  }

  /// Reads an object whose member `value` is the message.
  private mutating func valueMember<M: Message>(into message: inout M) throws(DecodeError) {
    var isFirst = true
    var hasValue = false
    try reader.enter(UInt8(ascii: "{"))
    while try reader.hasNext(UInt8(ascii: "}"), isFirst: &isFirst) {
      let start = reader.position
      let name = try reader.string()
      try reader.expect(UInt8(ascii: ":"))
      if name == "value", !hasValue {
        hasValue = true
        try message.merge(from: &self)
      } else {
        guard name == JSONTypesAhead.key || reader.ignoresUnknown && name != "value" else {
          throw reader.fail("unexpected \"\(name)\" in an Any with a value", at: start)
        }
        try reader.skipValue()
      }
    }
    guard hasValue else { throw reader.fail("an Any that holds \(M.protoMessageName) needs \"value\"") }
  }
}

extension JSONMessageEncoder {
  /// Writes the message in an `Any`, whose type is `type`.
  fileprivate mutating func unpacked<M: Message>(
    _ any: Google_Protobuf_Any,
    as type: M.Type
  ) throws(EncodeError) {
    try unpacked(any, try unpack(any, as: type))
  }

  /// The same for a type that was described at run time.
  fileprivate mutating func unpacked(
    _ any: Google_Protobuf_Any,
    as table: TableData
  ) throws(EncodeError) {
    var message = TableMessage(table)
    let limits = try limits()
    do throws(DecodeError) {
      try message.merge(any.value, options: limits)
    } catch {
      throw JSONMessageEncoder.mismatch(error)
    }
    try unpacked(any, message)
  }

  private mutating func unpacked<M: Message>(
    _ any: Google_Protobuf_Any,
    _ message: M
  ) throws(EncodeError) {
    if message is any CustomJSON {
      depth += 1
      writer.byte(UInt8(ascii: "{"))
      member(JSONTypesAhead.key, any.typeURL)
      writer.verbatim(",\"value\":")
      try message.encode(to: &self)
      writer.byte(UInt8(ascii: "}"))
      depth -= 1
    } else {
      try object(message) { encoder in
        encoder.member(JSONTypesAhead.key, any.typeURL)
        return true
      }
    }
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

  private static func mismatch(_ error: DecodeError) -> EncodeError {
    EncodeError(.unrepresentable("an Any whose value does not match its type: \(error)"))
  }

  private func unpack<M: Message>(_ any: Google_Protobuf_Any, as type: M.Type) throws(EncodeError) -> M {
    let limits = try limits()
    do throws(DecodeError) {
      return try any.unpack(extensions: options.typeRegistry.extensions, partial: true, options: limits)
    } catch {
      throw JSONMessageEncoder.mismatch(error)
    }
  }
}
