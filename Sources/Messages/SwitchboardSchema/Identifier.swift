import SwitchboardText

extension StringProtocol {
  /// Whether this is an identifier in `.proto` files: ASCII letters, digits and `_`, not starting with a digit.
  package var isIdentifier: Bool {
    guard let first = utf8.first, !first.isDigit else { return false }
    return utf8.allSatisfy { $0.isLetter || $0.isDigit || $0 == UInt8(ascii: "_") }
  }

  /// Whether this is a full name in `.proto` files: identifiers with dots between them.
  package var isFullName: Bool {
    var startsWord = true
    for byte in utf8 {
      guard byte != UInt8(ascii: ".") else {
        guard !startsWord else { return false }
        startsWord = true
        continue
      }
      guard byte.isLetter || byte == UInt8(ascii: "_") || byte.isDigit && !startsWord else { return false }
      startsWord = false
    }
    return !startsWord
  }
}
