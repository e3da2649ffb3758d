/// Writes unknown fields in the text format: by their numbers, in the form that the wire type suggests.
enum UnknownFieldsText {
  /// The maximum depth at which bytes are interpreted as a nested message.
  private static let depth = 10

  /// Writes encoded fields; nothing if the bytes are not fields.
  static func write(_ bytes: [UInt8], to writer: inout TextFormatWriter) {
    guard EncodedFields(bytes[...]).isWellFormed else { return }
    var fields = EncodedFields(bytes[...])
    write(&fields, depth: depth, to: &writer)
  }

  /// Writes well-formed fields up to the end of the bytes or of the enclosing group.
  private static func write(_ fields: inout EncodedFields, depth: Int, to writer: inout TextFormatWriter) {
    while let (number, value) = fields.next() {
      if case .endGroup = value { return }
      writer.name(String(number))
      if case .startGroup = value {
        writer.open()
        write(&fields, depth: depth - 1, to: &writer)
        writer.close()
      } else {
        write(value, depth: depth, to: &writer)
      }
    }
  }

  private static func write(_ value: EncodedFields.Value, depth: Int, to writer: inout TextFormatWriter) {
    if case .bytes(let bytes) = value, depth > 0, !bytes.isEmpty, EncodedFields(bytes).isWellFormed {
      var fields = EncodedFields(bytes)
      writer.open()
      write(&fields, depth: depth - 1, to: &writer)
      return writer.close()
    }
    writer.literal(": ")
    switch value {
    case .varint(let bits): writer.literal(String(bits))
    case .fixed32(let bits): writer.literal(hexadecimal(UInt64(bits), digits: 8))
    case .fixed64(let bits): writer.literal(hexadecimal(bits, digits: 16))
    case .bytes(let bytes): writer.quoted(Array(bytes))
    case .startGroup, .endGroup: break
    }
    writer.endLine()
  }

  private static func hexadecimal(_ bits: UInt64, digits: Int) -> String {
    let text = String(bits, radix: 16)
    return "0x" + String(repeating: "0", count: digits - text.count) + text
  }
}
