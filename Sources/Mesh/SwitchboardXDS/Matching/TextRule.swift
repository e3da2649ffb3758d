// unsafe: bytes of metadata that a call lends for one comparison

import SwitchboardPatterns
import SwitchboardText

/// A rule for a text of a call: for its bytes.
enum TextRule: Hashable, Sendable {
  case exact([UInt8])
  case prefix([UInt8])
  case suffix([UInt8])
  case contains([UInt8])
  /// All of the text, and with regard to case, whatever else is said of it.
  case pattern(Pattern)

  func matches(_ text: UnsafeBufferPointer<UInt8>, ignoringCase: Bool = false) -> Bool {
    switch self {
    case .exact(let own): text.count == own.count && Self.isPart(own, of: text, at: 0, ignoringCase)
    case .prefix(let own): Self.isPart(own, of: text, at: 0, ignoringCase)
    case .suffix(let own): Self.isPart(own, of: text, at: text.count - own.count, ignoringCase)
    case .contains(let own): Self.isAnywhere(own, in: text, ignoringCase)
    case .pattern(let pattern): pattern.matches(text.span)
    }
  }

  /// Whether a part of the text has these bytes; with `ignoringCase`, `own` is in lower case.
  private static func isPart(
    _ own: [UInt8],
    of text: UnsafeBufferPointer<UInt8>,
    at start: Int,
    _ ignoringCase: Bool
  ) -> Bool {
    guard start >= 0, own.count <= text.count - start else { return false }
    for (index, byte) in own.enumerated() {
      let other = text[start + index]
      guard byte == (ignoringCase ? other.asciiLowercased : other) else { return false }
    }
    return true
  }

  /// The search of Knuth, Morris and Pratt: a rule and a text that resemble each other must not cost their product.
  private static func isAnywhere(
    _ own: [UInt8],
    in text: UnsafeBufferPointer<UInt8>,
    _ ignoringCase: Bool
  ) -> Bool {
    guard !own.isEmpty else { return true }
    guard own.count <= text.count else { return false }
    var borders = [0]
    var border = 0
    for byte in own.dropFirst() {
      while border > 0, own[border] != byte { border = borders[border - 1] }
      if own[border] == byte { border += 1 }
      borders.append(border)
    }
    var matched = 0
    for other in text {
      let byte = ignoringCase ? other.asciiLowercased : other
      while matched > 0, own[matched] != byte { matched = borders[matched - 1] }
      if own[matched] == byte { matched += 1 }
      if matched == own.count { return true }
    }
    return false
  }
}

extension UInt8 {
  /// The same letter of ASCII in lower case; other bytes as they are.
  var asciiLowercased: UInt8 { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(self) ? self | 0x20 : self }
}

extension [UInt8] {
  /// The bytes of a text, with letters of ASCII in lower case.
  init(lowercased text: String) { self = text.utf8.map(\.asciiLowercased) }
}
