// Fields with names in brackets: extensions, and the message in an `Any`.
extension TextFormatDecoder {
  mutating func bracketed(in message: inout MessageStorage) throws(DecodeError) {
    let name = try reader.bracketedName()
    if name.utf8.contains(UInt8(ascii: "/")) {
      return try anyContent(name, in: &message)
    }
    // In a message with a table, an extension is a field whose name has the brackets.
    var number = message.table.names.number(ofTextName: "[\(name)]")
    if number == nil { number = try extensionNumber(name, of: message.table) }
    if let number {
      do throws(DecodeError) {
        try message.decodeField(number, from: &self)
      } catch {
        throw error.inside("[\(name)]")
      }
    } else if options.ignoreUnknownExtensions {
      try skipValue()
    } else {
      throw reader.error("\(message.table.fullName) has no extension '\(name)'", at: fieldStart)
    }
  }

  // MARK: Extensions

  private func extensionNumber(_ name: String, of table: TableData) throws(DecodeError) -> Int32? {
    guard let extensions, table.isExtensible else { return nil }
    if let field = extensions.field(of: table, fullName: name) { return field.number }
    guard let field = extensions.field(of: table, declaredIn: name) else { return nil }
    guard table.isMessageSet else {
      throw reader.error("the name belongs to a message, not to an extension", at: fieldStart)
    }
    return field.number
  }

  // MARK: Any

  private mutating func anyContent(
    _ url: String,
    in message: inout MessageStorage
  ) throws(DecodeError) {
    let start = fieldStart
    guard var any = try any(of: message) else {
      throw reader.error("only google.protobuf.Any may have a type URL", at: start)
    }
    guard any.typeURL.isEmpty, any.value.isEmpty else {
      throw reader.error("the Any already has a value", at: start)
    }
    guard let table = options.typeRegistry.table(forURL: url) else {
      throw reader.error("unknown type '\(url)'", at: start)
    }
    do throws(DecodeError) {
      _ = reader.take(":")
      any.typeURL = url
      any.value = try packed(table)
    } catch {
      throw error.inside("[\(url)]")
    }
    try message.replaceFields(with: any)
  }

  /// The message as an `Any`, if it is one.
  private func any(of message: MessageStorage) throws(DecodeError) -> Google_Protobuf_Any? {
    guard message.table.form?.isAny == true else { return nil }
    do throws(EncodeError) {
      return try message.typed(as: Google_Protobuf_Any.self)
    } catch {
      throw DecodeError(.malformed(error.description))
    }
  }

  private mutating func packed(_ table: TableData) throws(DecodeError) -> [UInt8] {
    var content = MessageStorage(table)
    try body(of: &content)
    if !isPartial { try content.checkDecoded() }
    do throws(EncodeError) {
      return try content.serializedBytes(partial: true, options: .deterministic)
    } catch {
      throw DecodeError(.malformed(error.description))
    }
  }
}

extension BinaryEncodingOptions {
  /// Sorted map entries, so that equal text gives equal bytes.
  static var deterministic: BinaryEncodingOptions {
    var options = BinaryEncodingOptions()
    options.deterministic = true
    return options
  }
}

extension TextFormatReader {
  /// Reads a name in brackets: an extension's name, or a type URL. White space and comments in it are ignored.
  mutating func bracketedName() throws(DecodeError) -> String {
    let start = position
    try expect("[")
    var name: [UInt8] = []
    while let byte = next, TypeURL.allows(byte) {
      let from = position
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
