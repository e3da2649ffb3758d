/// The two fields of `google.protobuf.Any`, whichever Swift type the message has.
struct AnyParts: Message {
  var typeURL = ""
  var value: [UInt8] = []
  var unknownFields = UnknownFields()

  static let protoMessageName = "google.protobuf.Any"
  static let fieldNames = FieldNames("1:type_url 2:value")

  mutating func decodeField<D: FieldDecoder>(_ number: Int32, from decoder: inout D) throws(DecodeError) {
    switch number {
    case 1: try decoder.singular(&typeURL, as: ProtoString.self)
    case 2: try decoder.singular(&value, as: ProtoBytes.self)
    default: break
    }
  }

  func traverse<V: FieldVisitor>(_ visitor: inout V) throws(EncodeError) {
    try visitor.implicit(typeURL, as: ProtoString.self, number: 1)
    try visitor.implicit(value, as: ProtoBytes.self, number: 2)
    try visitor.unknown(unknownFields)
  }

  // MARK: The URL of a type

  /// Whether the text format allows a byte in a URL.
  static func isURLByte(_ byte: UInt8) -> Bool {
    TextFormatReader.isLetter(byte) || TextFormatReader.isDigit(byte) || "-.~!$&()*+,;=%/".utf8.contains(byte)
  }

  /// Whether a URL can be written in the text format: something stands before a slash, all bytes are allowed, and
  /// each `%` has its two digits.
  static func isReadable(url: String) -> Bool {
    let pieces = url.utf8.split(separator: UInt8(ascii: "%"), omittingEmptySubsequences: false)
    return url.contains("/") && !url.hasPrefix("/") && url.utf8.allSatisfy(isURLByte)
      && pieces.dropFirst().allSatisfy { piece in
        piece.count >= 2 && piece.prefix(2).allSatisfy { TextFormatReader.hexValue($0) != nil }
      }
  }
}
