/// Swift with holes, which rules look for.
///
/// A pattern is written as the code is: white space and comments between tokens do not matter. In it,
///
/// - `$NAME`, in capitals, is one word;
/// - `$path`, at the beginning, is a word or several with dots between them;
/// - `$value`, any other name, is an expression, up to what follows it in the pattern, and without a comma outside of brackets;
/// - `$effects` is `try`, `try!`, `try?` and `await`, or nothing;
/// - `*Client` is a word that ends so, and `$stem` what comes before.
struct Pattern: Sendable, Hashable {
  enum Element: Sendable, Hashable {
    case exact([UInt8])
    case suffix([UInt8])
    case word(String)
    case path(String)
    case expression(String)
    case effects
  }

  /// What files are searched for: a token that is the same in all matches, or how it ends.
  enum Anchor: Sendable, Hashable {
    case exact([UInt8])
    case suffix([UInt8])
  }

  let elements: [Element]
  /// The index of the element that files are searched for, and what it is.
  let anchorIndex: Int
  let anchor: Anchor

  /// Nil if there is no word in it to search for.
  init?(_ text: String) {
    let elements = Self.elements(SwiftSource(Array(text.utf8)))
    guard let index = elements.firstIndex(where: { Self.anchor($0) != nil }),
      let anchor = Self.anchor(elements[index])
    else { return nil }
    self.elements = elements
    self.anchor = anchor
    anchorIndex = index
  }

  private static func anchor(_ element: Element) -> Anchor? {
    switch element {
    case .exact(let bytes) where isFound(bytes): .exact(bytes)
    case .suffix(let bytes): .suffix(bytes)
    default: nil
    }
  }

  /// Words and strings are searched for.
  private static func isFound(_ bytes: [UInt8]) -> Bool {
    guard let first = bytes.first, bytes.count > 1, !common.contains(bytes) else { return false }
    return SwiftTokenizer.isWord(first) || first == UInt8(ascii: "\"")
  }

  /// Words that would be found too often.
  private static let common: Set<[UInt8]> = [Array("let".utf8), Array("for".utf8)]

  private static func elements(_ source: SwiftSource) -> [Element] {
    var elements: [Element] = []
    var index = 0
    while index < source.tokens.count {
      if source.isToken("*", at: index), source.isWord(index + 1) {
        elements.append(.suffix(Array(source[index + 1])))
        index += 2
      } else {
        elements.append(element(Array(source[index])))
        index += 1
      }
    }
    return elements
  }

  private static func element(_ bytes: [UInt8]) -> Element {
    guard bytes.first == UInt8(ascii: "$"), bytes.count > 1 else { return .exact(bytes) }
    let name = String(decoding: bytes.dropFirst(), as: UTF8.self)
    switch name {
    case "effects": return .effects
    case "path": return .path(name)
    case _ where (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(bytes[1]): return .word(name)
    default: return .expression(name)
    }
  }
}
