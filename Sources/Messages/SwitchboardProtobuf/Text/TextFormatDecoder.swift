/// Reads the text format: field names, and the punctuation between values.
///
/// `TextFormatDecoder+Fields.swift` reads the values.
struct TextFormatDecoder {
  var reader: TextFormatReader
  let extensions: ExtensionRegistry?
  let options: TextFormatDecodingOptions
  let isPartial: Bool
  var objects: ObjectBudget

  /// The start of the current field.
  var fieldStart = 0
  private var depthLeft: Int

  init(
    _ text: String,
    extensions: ExtensionRegistry?,
    partial: Bool,
    options: TextFormatDecodingOptions
  ) {
    reader = TextFormatReader(text)
    objects = ObjectBudget(input: text.utf8.count)
    self.extensions = extensions
    self.options = options
    isPartial = partial
    depthLeft = options.messageDepthLimit
  }

  /// Reads the fields of a message up to its closing symbol or the end of the input.
  mutating func fields(of message: inout MessageStorage, until end: Unicode.Scalar?) throws(DecodeError) {
    while try !isAtEnd(end) {
      try field(of: &message)
      separator()
    }
  }

  private mutating func isAtEnd(_ end: Unicode.Scalar?) throws(DecodeError) -> Bool {
    guard let end else { return reader.isAtEnd }
    return reader.take(end)
  }

  /// Skips an optional separator after a field.
  mutating func separator() {
    if !reader.take(",") { _ = reader.take(";") }
  }

  private mutating func field(of message: inout MessageStorage) throws(DecodeError) {
    fieldStart = reader.position
    if reader.isAt("[") { return try bracketed(in: &message) }
    guard let name = reader.identifier() else { throw reader.unexpected("a field name") }
    let names = message.table.names
    if let number = names.number(ofTextName: name) {
      do throws(DecodeError) {
        try message.decodeField(number, from: &self)
      } catch {
        throw error.inside(names.name(of: number))
      }
    } else if options.ignoreUnknownFields || names.reserves(name) {
      try skipValue()
    } else {
      throw reader.error("\(message.table.fullName) has no field '\(name)'", at: fieldStart)
    }
  }

  // MARK: Values

  /// Reads the single value of a field or a list of values in brackets.
  mutating func list(
    _ element: (inout TextFormatDecoder) throws(DecodeError) -> Void
  ) throws(DecodeError) {
    guard reader.take("[") else { return try element(&self) }
    if reader.take("]") { return }
    repeat { try element(&self) } while reader.take(",")
    try reader.expect("]")
  }

  /// Reads the value of a message field.
  mutating func body(of message: inout MessageStorage) throws(DecodeError) {
    try objects.claim(message.table)
    try nested { (decoder, end) throws(DecodeError) in try decoder.fields(of: &message, until: end) }
  }

  /// Whether the value of a message field comes next.
  var isAtBody: Bool { reader.isAt("{") || reader.isAt("<") }

  /// Reads the value of a message field; `content` reads up to the symbol that it receives.
  mutating func nested(
    _ content: (inout TextFormatDecoder, Unicode.Scalar) throws(DecodeError) -> Void
  ) throws(DecodeError) {
    guard depthLeft > 0 else { throw DecodeError(.nestedTooDeep) }
    depthLeft -= 1
    if reader.take("<") {
      try content(&self, ">")
    } else {
      try reader.expect("{")
      try content(&self, "}")
    }
    depthLeft += 1
  }
}
