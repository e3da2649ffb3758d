/// The URL of a type in a `google.protobuf.Any`, as the text format allows it.
enum TypeURL {
  /// Whether a URL may contain a byte.
  static func allows(_ byte: UInt8) -> Bool {
    TextFormatReader.isLetter(byte) || TextFormatReader.isDigit(byte) || "-.~!$&()*+,;=%/".utf8.contains(byte)
  }

  /// Whether a URL can be written: there is text before a slash, all bytes are allowed, and two digits follow each `%`.
  static func isReadable(_ url: String) -> Bool {
    let slash = UInt8(ascii: "/")
    let pieces = url.utf8.split(separator: UInt8(ascii: "%"), omittingEmptySubsequences: false)
    return url.utf8.contains(slash) && url.utf8.first != slash && url.utf8.allSatisfy(allows)
      && pieces.dropFirst().allSatisfy { piece in
        piece.count >= 2 && piece.prefix(2).allSatisfy { TextFormatReader.hexValue($0) != nil }
      }
  }
}
