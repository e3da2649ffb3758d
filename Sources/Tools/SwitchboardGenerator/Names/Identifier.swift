import SwitchboardText

extension StringProtocol {
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
