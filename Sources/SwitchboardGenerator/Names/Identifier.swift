extension StringProtocol {
  /// Whether this is an identifier in `.proto` files: letters, digits and `_`, not starting with a digit.
  var isIdentifier: Bool {
    guard let first = utf8.first, !first.isDigit else { return false }
    return utf8.allSatisfy { $0.isLetter || $0.isDigit || $0 == UInt8(ascii: "_") }
  }

  /// Whether the text consists only of `_`.
  var isAllUnderscores: Bool { !isEmpty && utf8.allSatisfy { $0 == UInt8(ascii: "_") } }

  /// The text with a capital first letter.
  var capitalized: String {
    guard let first = utf8.first else { return "" }
    return String(decoding: CollectionOfOne(first.uppercased), as: UTF8.self) + dropFirst()
  }

  /// The text without leading and trailing spaces.
  func trimmingSpaces() -> String {
    var trimmed = self[...]
    while trimmed.first?.isWhitespace == true { trimmed = trimmed.dropFirst() }
    while trimmed.last?.isWhitespace == true { trimmed = trimmed.dropLast() }
    return String(trimmed)
  }
}

// ASCII only: `.proto` files allow no other letters.
extension UInt8 {
  var isDigit: Bool { self >= UInt8(ascii: "0") && self <= UInt8(ascii: "9") }
  var isLower: Bool { self >= UInt8(ascii: "a") && self <= UInt8(ascii: "z") }
  var isUpper: Bool { self >= UInt8(ascii: "A") && self <= UInt8(ascii: "Z") }
  var isLetter: Bool { isLower || isUpper }
  var lowercased: UInt8 { isUpper ? self + 32 : self }
  var uppercased: UInt8 { isLower ? self - 32 : self }
}
