extension DynamicMessage {
  // MARK: Binary

  /// Reads a message of a type from its binary form. If `partial`, `required` fields may be missing.
  public init(
    _ type: MessageTable,
    serializedBytes bytes: [UInt8],
    partial: Bool = false,
    options: BinaryDecodingOptions = BinaryDecodingOptions()
  ) throws(DecodeError) {
    self.init(type)
    try merge(serializedBytes: bytes, partial: partial, options: options)
  }

  /// Reads an encoded message and merges it into this one.
  public mutating func merge(
    serializedBytes bytes: [UInt8],
    partial: Bool = false,
    options: BinaryDecodingOptions = BinaryDecodingOptions()
  ) throws(DecodeError) {
    do throws(DecodeError) {
      try storage.merge(bytes.span.bytes, partial: partial, options: options)
    } catch {
      throw error.inside(simpleName)
    }
  }

  /// Merges the fields of a message of the same type into this one, as if its bytes followed. Throws if the type is
  /// another.
  public mutating func merge(_ other: DynamicMessage) throws(EncodeError) {
    guard other.type == type else {
      throw EncodeError(.unrepresentable("\(other.type.fullName) cannot be merged into \(type.fullName)"))
    }
    let bytes = try other.serializedBytes(partial: true)
    var options = BinaryDecodingOptions()
    options.messageDepthLimit = .max
    do throws(DecodeError) {
      try storage.merge(bytes.span.bytes, options: options, spareMemory: .max)
    } catch {
      throw EncodeError(.unrepresentable(error.description))
    }
  }

  /// The message in binary. If `partial`, `required` fields may be missing.
  public func serializedBytes(
    partial: Bool = false,
    options: BinaryEncodingOptions = BinaryEncodingOptions()
  ) throws(EncodeError) -> [UInt8] {
    try storage.serializedBytes(partial: partial, options: options)
  }

  /// The size of the message in binary, in bytes.
  public func serializedSize() throws(EncodeError) -> Int {
    try storage.withSerializedBytes(partial: true) { $0.byteCount }
  }

  // MARK: JSON

  /// Reads a message of a type from its JSON form. If `partial`, `required` fields may be missing.
  public init(
    _ type: MessageTable,
    jsonString text: String,
    partial: Bool = false,
    options: JSONDecodingOptions = JSONDecodingOptions()
  ) throws(DecodeError) {
    try self.init(type, jsonUTF8Bytes: Array(text.utf8), partial: partial, options: options)
  }

  /// Reads a message of a type from its JSON form in UTF-8.
  public init(
    _ type: MessageTable,
    jsonUTF8Bytes bytes: [UInt8],
    partial: Bool = false,
    options: JSONDecodingOptions = JSONDecodingOptions()
  ) throws(DecodeError) {
    self.init(type)
    var decoder = try JSONMessageDecoder(bytes, extensions: nil, options: options)
    do throws(DecodeError) {
      try storage.merge(from: &decoder)
      try decoder.reader.finish()
      if !partial { try storage.checkDecoded() }
    } catch {
      throw error.inside(simpleName)
    }
  }

  /// The message in JSON. If `partial`, `required` fields may be missing.
  public func jsonString(
    partial: Bool = false,
    options: JSONEncodingOptions = JSONEncodingOptions()
  ) throws(EncodeError) -> String {
    try storage.withJSON(partial: partial, options: options) { $0.text }
  }

  /// The message in JSON, in UTF-8.
  public func jsonUTF8Bytes(
    partial: Bool = false,
    options: JSONEncodingOptions = JSONEncodingOptions()
  ) throws(EncodeError) -> [UInt8] {
    try storage.withJSON(partial: partial, options: options) { $0.bytes }
  }

  /// Calls `body` with the message in JSON, in UTF-8.
  package func withJSONUTF8Bytes<Result>(options: JSONEncodingOptions, _ body: (RawSpan) -> Result)
    throws(EncodeError) -> Result
  {
    try storage.withJSON(partial: false, options: options) { $0.withBytes(body) }
  }

  /// The beginning of the message in JSON, of about `limit` bytes at most, and whether it is all of it. It takes no more
  /// memory than that and the longest value.
  package func jsonStart(
    _ limit: Int,
    options: JSONEncodingOptions = JSONEncodingOptions()
  ) throws(EncodeError) -> (bytes: [UInt8], isWhole: Bool) {
    try storage.jsonStart(limit, options: options)
  }

  // MARK: Text

  /// Reads a message of a type from the text format. If `partial`, `required` fields may be missing.
  public init(
    _ type: MessageTable,
    textFormatString text: String,
    partial: Bool = false,
    options: TextFormatDecodingOptions = TextFormatDecodingOptions()
  ) throws(DecodeError) {
    self.init(type)
    var decoder = TextFormatDecoder(text, extensions: nil, partial: partial, options: options)
    do throws(DecodeError) {
      try decoder.fields(of: &storage, until: nil)
      if !partial { try storage.checkDecoded() }
    } catch {
      throw error.inside(simpleName)
    }
  }

  /// The message in the text format.
  public func textFormatString(
    options: TextFormatEncodingOptions = TextFormatEncodingOptions()
  ) -> String {
    storage.textFormatString(options: options)
  }

  /// The beginning of the message in the text format, of `limit` bytes at most.
  package func textFormatStart(_ limit: Int, options: TextFormatEncodingOptions) -> String {
    storage.textFormatString(options: options, limit: limit)
  }

  private var simpleName: String { type.data.simpleName }
}
