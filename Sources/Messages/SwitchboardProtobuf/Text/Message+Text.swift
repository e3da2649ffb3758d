extension Message {
  /// Reads a message from the text format.
  ///
  /// - Parameters:
  ///   - text: the fields of the message.
  ///   - extensions: the extensions to recognize.
  ///   - partial: whether `required` fields may be missing.
  ///   - options: limits, what happens to unknown fields, and the types that an `Any` may hold.
  /// - Throws: an error that names the position in the text and the field.
  public init(
    textFormatString text: String,
    extensions: ExtensionRegistry? = nil,
    partial: Bool = false,
    options: TextFormatDecodingOptions = TextFormatDecodingOptions()
  ) throws(DecodeError) {
    self.init()
    var decoder = TextFormatDecoder(text, extensions: extensions, partial: partial, options: options)
    do throws(DecodeError) {
      try decoder.fields(of: &_storage, until: nil)
      if !partial { try _storage.checkDecoded() }
    } catch {
      throw error.inside(Self.simpleName)
    }
  }

  /// The message in the text format.
  public func textFormatString(
    options: TextFormatEncodingOptions = TextFormatEncodingOptions()
  ) -> String {
    _storage.textFormatString(options: options)
  }

  /// The name of the message, and its fields in the text format. Messages nested more than a hundred levels deep are
  /// omitted.
  public var debugDescription: String { _storage.debugText }
}

extension MessageStorage {
  fileprivate var debugText: String {
    "\(table.fullName):\n" + textFormatString(options: TextFormatEncodingOptions(), depth: 100)
  }

  /// The message in the text format, to a depth of messages; the first `limit` bytes.
  func textFormatString(
    options: TextFormatEncodingOptions,
    depth: Int = .max,
    limit: Int = .max
  ) -> String {
    var encoder = TextFormatEncoder(options: options, depth: depth, limit: limit)
    try? encoder.fields(of: self)  // the encoder never throws
    encoder.writer.trim()
    return encoder.writer.text
  }
}
