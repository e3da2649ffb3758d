/// The URL by which `google.protobuf.Any` names a type, as the text format allows it.
enum TypeURL {
  /// Whether a byte may stand in a URL.
  static func allows(_ byte: UInt8) -> Bool {
    TextFormatReader.isLetter(byte) || TextFormatReader.isDigit(byte) || "-.~!$&()*+,;=%/".utf8.contains(byte)
  }

  /// Whether a URL can be written: something stands before a slash, all bytes are allowed, and each `%` has its
  /// two digits.
  static func isReadable(_ url: String) -> Bool {
    let pieces = url.utf8.split(separator: UInt8(ascii: "%"), omittingEmptySubsequences: false)
    return url.contains("/") && !url.hasPrefix("/") && url.utf8.allSatisfy(allows)
      && pieces.dropFirst().allSatisfy { piece in
        piece.count >= 2 && piece.prefix(2).allSatisfy { TextFormatReader.hexValue($0) != nil }
      }
  }
}
