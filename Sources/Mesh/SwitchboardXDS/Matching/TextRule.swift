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
      guard byte == (ignoringCase ? other.lowercased : other) else { return false }
    }
    return true
  }

  /// A rule that is longer than the text costs nothing.
  private static func isAnywhere(
    _ own: [UInt8],
    in text: UnsafeBufferPointer<UInt8>,
    _ ignoringCase: Bool
  ) -> Bool {
    guard own.count <= text.count else { return false }
    return ignoringCase ? text.lazy.map(\.lowercased).contains(part: own) : text.contains(part: own)
  }
}

extension [UInt8] {
  /// The bytes of a text, with letters of ASCII in lower case.
  init(lowercased text: String) { self = text.utf8.map(\.lowercased) }
}
