extension Message {
  /// Reads a message from its JSON form.
  ///
  /// The text must hold one JSON value, and nothing after it but white space. Fields are found by their JSON names or
  /// their original names, and `extensions` by their full names in brackets. If `partial`, `required` fields may be
  /// missing.
  public init(
    jsonString text: String,
    extensions: ExtensionRegistry? = nil,
    partial: Bool = false,
    options: JSONDecodingOptions = JSONDecodingOptions()
  ) throws(DecodeError) {
    try self.init(jsonUTF8Bytes: Array(text.utf8), extensions: extensions, partial: partial, options: options)
  }

  /// Reads a message from its JSON form in UTF-8.
  public init(
    jsonUTF8Bytes bytes: [UInt8],
    extensions: ExtensionRegistry? = nil,
    partial: Bool = false,
    options: JSONDecodingOptions = JSONDecodingOptions()
  ) throws(DecodeError) {
    self.init()
    var decoder = try JSONMessageDecoder(bytes, extensions: extensions, options: options)
    do throws(DecodeError) {
      try _storage.merge(from: &decoder)
      try decoder.reader.finish()
      if !partial { try _storage.checkDecoded() }
    } catch {
      throw error.inside(Self.simpleName)
    }
  }

  /// The message in JSON.
  ///
  /// Unknown fields are omitted, because JSON cannot represent them. If `partial`, `required` fields may be missing.
  public func jsonString(
    partial: Bool = false,
    options: JSONEncodingOptions = JSONEncodingOptions()
  ) throws(EncodeError) -> String {
    try _storage.withJSON(partial: partial, options: options) { $0.text }
  }

  /// The message in JSON, in UTF-8.
  public func jsonUTF8Bytes(
    partial: Bool = false,
    options: JSONEncodingOptions = JSONEncodingOptions()
  ) throws(EncodeError) -> [UInt8] {
    try _storage.withJSON(partial: partial, options: options) { $0.bytes }
  }

  /// Calls `body` with the message in JSON, in UTF-8.
  package func withJSONUTF8Bytes<Result>(options: JSONEncodingOptions, _ body: (RawSpan) -> Result)
    throws(EncodeError) -> Result
  {
    try _storage.withJSON(partial: false, options: options) { $0.withBytes(body) }
  }

  /// The beginning of the message in JSON, of about `limit` bytes at most, and whether it is all of it. It takes no more
  /// memory than that and the longest value.
  package func jsonStart(
    _ limit: Int,
    options: JSONEncodingOptions = JSONEncodingOptions()
  ) throws(EncodeError) -> (bytes: [UInt8], isWhole: Bool) {
    try _storage.jsonStart(limit, options: options)
  }
}

extension MessageStorage {
  /// The beginning of the message in JSON, and whether it is all of it.
  func jsonStart(
    _ limit: Int,
    options: JSONEncodingOptions
  ) throws(EncodeError) -> (bytes: [UInt8], isWhole: Bool) {
    try checkEncodable()
    var encoder = JSONMessageEncoder(options: options, limit: limit)
    do throws(EncodeError) {
      try encode(to: &encoder)
    } catch {
      guard encoder.writer.isCut else { throw error }
    }
    return (encoder.writer.bytes, !encoder.writer.isCut)
  }

  /// Calls `body` with the message in JSON. To return a writer would be to copy it.
  func withJSON<Result>(
    partial: Bool,
    options: JSONEncodingOptions,
    _ body: (borrowing JSONWriter) -> Result
  ) throws(EncodeError) -> Result {
    if !partial { try checkEncodable() }
    var encoder = JSONMessageEncoder(options: options)
    try encode(to: &encoder)
    return body(encoder.writer)
  }
}

// MARK: Arrays of messages

extension Message {
  /// Reads the messages in a JSON array.
  public static func array(
    fromJSONString text: String,
    extensions: ExtensionRegistry? = nil,
    partial: Bool = false,
    options: JSONDecodingOptions = JSONDecodingOptions()
  ) throws(DecodeError) -> [Self] {
    try array(
      fromJSONUTF8Bytes: Array(text.utf8),
      extensions: extensions,
      partial: partial,
      options: options
    )
  }

  /// Reads the messages in a JSON array in UTF-8.
  public static func array(
    fromJSONUTF8Bytes bytes: [UInt8],
    extensions: ExtensionRegistry? = nil,
    partial: Bool = false,
    options: JSONDecodingOptions = JSONDecodingOptions()
  ) throws(DecodeError) -> [Self] {
    var decoder = try JSONMessageDecoder(bytes, extensions: extensions, options: options)
    // The array around the messages does not count as nesting either.
    decoder.reader.nestingLeft += 1
    guard decoder.reader.peek() == UInt8(ascii: "[") else { throw decoder.reader.unexpected("an array") }
    var messages: [Self] = []
    do throws(DecodeError) {
      try withStorages(in: &messages, as: [MessageStorage].self) { messages throws(DecodeError) in
        try decoder.messages(&messages, of: _table)
      }
      try decoder.reader.finish()
      for (index, message) in messages.enumerated() where !partial {
        guard let path = message._storage.pathToMissingField() else { continue }
        throw DecodeError(.missingRequiredField, at: path).inField("[\(index)]")
      }
    } catch {
      throw error.inField(simpleName)
    }
    return messages
  }

  /// Messages as a JSON array.
  public static func jsonString(
    from messages: some Collection<Self>,
    partial: Bool = false,
    options: JSONEncodingOptions = JSONEncodingOptions()
  ) throws(EncodeError) -> String {
    String(decoding: try jsonUTF8Bytes(from: messages, partial: partial, options: options), as: UTF8.self)
  }

  /// Messages as a JSON array in UTF-8.
  public static func jsonUTF8Bytes(
    from messages: some Collection<Self>,
    partial: Bool = false,
    options: JSONEncodingOptions = JSONEncodingOptions()
  ) throws(EncodeError) -> [UInt8] {
    for message in messages where !partial { try message._storage.checkEncodable() }
    var encoder = JSONMessageEncoder(options: options)
    try encoder.array(messages.map(\._storage))
    return encoder.writer.bytes
  }
}
