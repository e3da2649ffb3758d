// Fields with names in brackets: extensions, and the message in an `Any`.
extension TextFormatDecoder {
  mutating func bracketed<M: Message>(in message: inout M) throws(DecodeError) {
    let name = try reader.bracketedName()
    if name.contains("/") {
      return try anyContent(name, in: &message)
    }
    // In a message with a table, an extension is a field whose name has the brackets.
    if let number = message.tableIfAny?.names.number(ofTextName: "[\(name)]")
      ?? extensionNumber(name, of: M.self)
    {
      do throws(DecodeError) {
        try message.decodeField(number, from: &self)
      } catch {
        throw error.inside("[\(name)]")
      }
    } else if options.ignoreUnknownExtensions {
      try skipValue()
    } else {
      throw reader.error("\(message.messageNameOfValue) has no extension '\(name)'", at: fieldStart)
    }
  }

  // MARK: Extensions

  private mutating func extensionNumber<M: Message>(_ name: String, of type: M.Type) -> Int32? {
    guard let extensions, let type = M.self as? any ExtensibleMessage.Type else { return nil }
    isNamedByMessage = false
    if let field = extensions.field(of: type, fullName: name) { return field.number }
    isNamedByMessage = true
    return extensions.field(of: type, declaredIn: name)?.number
  }

  mutating func extensionField<M: ExtensibleMessage>(
    _ number: Int32,
    of type: M.Type,
    into fields: inout ExtensionFields
  ) throws(DecodeError) {
    guard !isNamedByMessage else {
      throw reader.error("the name belongs to a message, not to an extension", at: fieldStart)
    }
    try messageSetField(number, of: type, into: &fields)
  }

  mutating func messageSetField<M: ExtensibleMessage>(
    _ number: Int32,
    of type: M.Type,
    into fields: inout ExtensionFields
  ) throws(DecodeError) {
    try extensions?.field(of: type, number: number)?.decode(into: &fields, from: &self)
  }

  // MARK: Any

  private mutating func anyContent<M: Message>(_ url: String, in message: inout M) throws(DecodeError) {
    let start = fieldStart
    guard var any = try any(of: message) else {
      throw reader.error("only google.protobuf.Any may have a type URL", at: start)
    }
    guard any.typeURL.isEmpty, any.value.isEmpty else {
      throw reader.error("the Any already has a value", at: start)
    }
    let empty: any Message
    if let type = options.typeRegistry.messageType(forURL: url) {
      empty = type.init()
    } else if let table = options.typeRegistry.table(forURL: url) {
      empty = TableMessage(table)
    } else {
      throw reader.error("unknown type '\(url)'", at: start)
    }
    do throws(DecodeError) {
      _ = reader.take(":")
      any.typeURL = url
      any.value = try packed(empty)
    } catch {
      throw error.inside("[\(url)]")
    }
    try assign(any, to: &message)
  }

  /// The message as an `Any`, if it is one.
  private func any<M: Message>(of message: M) throws(DecodeError) -> Google_Protobuf_Any? {
    guard let message = message as? TableMessage else { return message as? Google_Protobuf_Any }
    guard message.table.form?.isAny == true else { return nil }
    do throws(EncodeError) {
      return try message.typed(as: Google_Protobuf_Any.self)
    } catch {
      throw DecodeError(.malformed(error.description))
    }
  }

  private func assign<M: Message>(_ any: Google_Protobuf_Any, to message: inout M) throws(DecodeError) {
    if var table = message as? TableMessage {
      try table.replaceFields(with: any)
      message = table as? M ?? message
    } else {
      message = any as? M ?? message
    }
  }

  private mutating func packed<M: Message>(_ empty: M) throws(DecodeError) -> [UInt8] {
    var content = empty
    try body(of: &content)
    guard isPartial || content.isInitialized else { throw DecodeError(.missingRequiredField) }
    do throws(EncodeError) {
      return try content.serializedBytes(partial: true, options: .deterministic)
    } catch {
      throw DecodeError(.malformed(error.description))
    }
  }
}

extension BinaryEncodingOptions {
  /// Sorted map entries, so that equal text gives equal bytes.
  fileprivate static var deterministic: BinaryEncodingOptions {
    var options = BinaryEncodingOptions()
    options.deterministic = true
    return options
  }
}

extension TextFormatReader {
  /// Reads a name in brackets: an extension's name, or a type URL. White space and comments in it are ignored.
  mutating func bracketedName() throws(DecodeError) -> String {
    let start = place
    try expect("[")
    var name: [UInt8] = []
    while let byte = next, TypeURL.allows(byte) {
      let from = place
      let end = input[from...].firstIndex { !TypeURL.allows($0) } ?? input.count
      name += input[from..<end]
      advance(to: end)
    }
    try expect("]")
    let text = String(decoding: name, as: UTF8.self)
    let isURL = name.contains(UInt8(ascii: "/"))
    guard isURL ? TypeURL.isReadable(text) : Self.isFullName(name) else {
      throw error("malformed name in brackets", at: start)
    }
    return text
  }

  /// Whether the bytes are words separated by dots.
  private static func isFullName(_ name: [UInt8]) -> Bool {
    name.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false).allSatisfy { word in
      word.first.map(isLetter) == true && word.allSatisfy(isNameByte)
    }
  }

  private static func isNameByte(_ byte: UInt8) -> Bool { isLetter(byte) || isDigit(byte) }
}
