/// Writes the text format: the names of fields, and the message in an `Any`.
///
/// `TextFormatEncoder+Fields.swift` writes the values.
struct TextFormatEncoder {
  var writer: TextFormatWriter
  private let options: TextFormatEncodingOptions

  /// The field names of the current message; below, the extension being written, if any.
  private var names = FieldNames("")
  private var extensionName: String?
  private var depthLeft: Int
  /// The number of open messages.
  private var depth = 0

  init(options: TextFormatEncodingOptions, depth: Int, limit: Int) {
    writer = TextFormatWriter(singleLine: options.singleLine, limit: limit)
    self.options = options
    depthLeft = depth
  }

  /// The name to write for a field.
  func name(of number: Int32) -> String {
    extensionName.map { "[\($0)]" } ?? names.textName(of: number) ?? "\(number)"
  }

  /// Writes the field that `body` visits as the extension `name`.
  mutating func named(
    _ name: String,
    _ body: (inout TextFormatEncoder) throws(EncodeError) -> Void
  ) throws(EncodeError) {
    extensionName = name
    defer { extensionName = nil }
    try body(&self)
  }

  /// Writes the fields of a message.
  mutating func fields(of message: MessageStorage) throws(EncodeError) {
    let outer = (names, extensionName)
    defer { (names, extensionName) = outer }
    names = message.table.names
    extensionName = nil
    if message.table.form?.isAny == true, let any = try? message.typed(as: Google_Protobuf_Any.self),
      try content(of: any)
    {
      return
    }
    try message.traverse(&self)
  }

  /// Writes a field that contains fields.
  mutating func nested(
    _ name: String,
    _ content: (inout TextFormatEncoder) throws(EncodeError) -> Void
  ) throws(EncodeError) {
    guard !writer.isFull else { return }
    writer.name(name)
    guard depthLeft > 0 else {
      writer.literal(" { ... }")
      return writer.endLine()
    }
    depthLeft -= 1
    depth += 1
    defer { (depthLeft, depth) = (depthLeft + 1, depth - 1) }
    writer.open()
    try content(&self)
    writer.close()
  }

  /// Writes fields that the type does not know.
  mutating func unknown(_ fields: UnknownFields) {
    guard options.printUnknownFields, !fields.isEmpty else { return }
    UnknownFieldsText.write(fields.bytes, to: &writer)
  }

  // MARK: Any

  /// Writes the message in an `Any` after its type URL. Returns false if the type is unknown or the bytes are invalid.
  private mutating func content(of any: Google_Protobuf_Any) throws(EncodeError) -> Bool {
    guard any.unknownFields.isEmpty, TypeURL.isReadable(any.typeURL) else { return false }
    let registry = options.typeRegistry
    guard let table = registry.table(forURL: any.typeURL) else { return false }
    // The nesting of the bytes in an `Any` was not checked when these were read. The whole has a limit of twice that of
    // a message, because an `Any` and its content take one level each.
    var limits = BinaryDecodingOptions()
    limits.messageDepthLimit = min(limits.messageDepthLimit, 2 * limits.messageDepthLimit - depth)
    guard limits.messageDepthLimit >= 0 else { return false }
    var content = MessageStorage(table)
    do throws(DecodeError) {
      try content.merge(any.value.span.bytes, extensions: registry.extensions, options: limits)
    } catch {
      return false
    }
    try nested("[\(any.typeURL)]") { encoder throws(EncodeError) in try encoder.fields(of: content) }
    return true
  }
}
