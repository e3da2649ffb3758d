extension Message {
  /// Reads a message from the text format.
  ///
  /// - Parameters:
  ///   - text: the fields of the message.
  ///   - extensions: the extensions to recognise.
  ///   - partial: whether `required` fields may be missing.
  ///   - options: limits, what becomes of unknown fields, and the types that an `Any` may hold.
  /// - Throws: an error that names the place in the text and the field.
  public init(
    textFormatString text: String,
    extensions: ExtensionRegistry? = nil,
    partial: Bool = false,
    options: TextFormatDecodingOptions = TextFormatDecodingOptions()
  ) throws(DecodeError) {
    self.init()
    var decoder = TextFormatDecoder(text, extensions: extensions, partial: partial, options: options)
    do throws(DecodeError) {
      try decoder.fields(of: &self, until: nil)
    } catch {
      throw error.inside(Self.simpleName)
    }
    if !partial, !isInitialized { throw DecodeError(.missingRequiredField).inside(Self.simpleName) }
  }

  /// The message in the text format.
  public func textFormatString(
    options: TextFormatEncodingOptions = TextFormatEncodingOptions()
  ) -> String {
    textFormatString(options: options, depth: .max)
  }

  /// The name of the message, and its fields in the text format. Messages nested deeper than a hundred levels are
  /// left out.
  public var debugDescription: String {
    "\(Self.protoMessageName):\n" + textFormatString(options: TextFormatEncodingOptions(), depth: 100)
  }

  private func textFormatString(options: TextFormatEncodingOptions, depth: Int) -> String {
    var encoder = TextFormatEncoder(options: options, depth: depth)
    // The encoder fails at nothing; a hand-written message that does has its text end there.
    try? encoder.fields(of: self)
    encoder.writer.trim()
    return encoder.writer.text
  }
}
