/// Splits Swift into tokens, in one pass over its bytes.
///
/// It knows as much of the language as it takes to tell code from comments, strings and regular expressions: nested
/// comments, raw and multi-line strings, and interpolations, whose code it reads as any other. It accepts everything: what
/// is not closed ends with the line or the file, and the compiler says so.
struct SwiftTokenizer {
  private let bytes: [UInt8]
  private var at = 0
  private var beginsLine = true
  private(set) var tokens: [SwiftToken] = []
  /// The strings around the code at `at`, outermost first, each with the parentheses that are open in its interpolation.
  private var strings: [(literal: Literal, depth: Int)] = []

  /// The delimiters of a string: how many `#`, and whether it has three quotes.
  private struct Literal {
    let hashes: Int
    let isMultiline: Bool
  }

  /// A regular expression without `#` is on one line, and is not longer than this.
  private static let longestBareRegex = 500

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  static func tokens(of bytes: [UInt8]) -> [SwiftToken] {
    var tokenizer = SwiftTokenizer(bytes)
    tokenizer.run()
    return tokenizer.tokens
  }

  private mutating func run() {
    if matches("#!", at: 0) { skipLine() }
    while at < bytes.count { step() }
  }

  private mutating func step() {
    let byte = bytes[at]
    switch byte {
    case UInt8(ascii: "\n"), UInt8(ascii: "\r"):
      beginsLine = true
      at += 1
    case 0...0x20: at += 1
    case UInt8(ascii: "/"): slash()
    case UInt8(ascii: "\""): string(hashes: 0)
    case UInt8(ascii: "#"): hash()
    case UInt8(ascii: "`"): backticks()
    case UInt8(ascii: "("), UInt8(ascii: ")"): parenthesis(byte)
    case UInt8(ascii: "0")...UInt8(ascii: "9"): number()
    case _ where Self.isWord(byte): word()
    default: mark()
    }
  }

  // MARK: Code

  private mutating func add(_ kind: SwiftToken.Kind, from start: Int) {
    tokens.append(SwiftToken(kind: kind, beginsLine: beginsLine, start: Int32(start), end: Int32(at)))
    beginsLine = false
  }

  private mutating func word() {
    let start = at
    while at < bytes.count, Self.isWord(bytes[at]) { at += 1 }
    add(.word, from: start)
  }

  private mutating func number() {
    let start = at
    while at < bytes.count, Self.isWord(bytes[at]) || isFraction { at += 1 }
    add(.number, from: start)
  }

  private var isFraction: Bool {
    bytes[at] == UInt8(ascii: ".") && at + 1 < bytes.count && Self.isDigit(bytes[at + 1])
  }

  /// A name in backticks is the word between them.
  private mutating func backticks() {
    at += 1
    let start = at
    while at < bytes.count, Self.isWord(bytes[at]) { at += 1 }
    if at > start { add(.word, from: start) }
    if at < bytes.count, bytes[at] == UInt8(ascii: "`") { at += 1 }
  }

  private mutating func mark() {
    let start = at
    at += matches("->", at: at) ? 2 : 1
    add(.mark, from: start)
  }

  private mutating func parenthesis(_ byte: UInt8) {
    mark()
    guard let inner = strings.last else { return }
    let depth = inner.depth + (byte == UInt8(ascii: "(") ? 1 : -1)
    strings[strings.count - 1].depth = depth
    guard depth == 0 else { return }
    strings.removeLast()
    text(inner.literal, from: at)
  }

  // MARK: Comments and regular expressions

  private mutating func slash() {
    if matches("//", at: at) { return skipLine() }
    if matches("/*", at: at) { return skipComment() }
    guard beginsExpression, let end = endOfBareRegex else { return mark() }
    let start = at
    at = end
    add(.text, from: start)
  }

  private mutating func skipLine() {
    while at < bytes.count, bytes[at] != UInt8(ascii: "\n") { at += 1 }
  }

  private mutating func skipComment() {
    var depth = 0
    repeat {
      if matches("/*", at: at) {
        depth += 1
        at += 2
      } else if matches("*/", at: at) {
        depth -= 1
        at += 2
      } else {
        if bytes[at] == UInt8(ascii: "\n") { beginsLine = true }
        at += 1
      }
    } while depth > 0 && at < bytes.count
    at = min(at, bytes.count)
  }

  /// Whether a `/` here cannot divide what precedes it.
  private var beginsExpression: Bool {
    guard let last = tokens.last else { return true }
    switch last.kind {
    case .number, .text: return false
    case .word: return [Array("return".utf8), Array("in".utf8)].contains(Array(bytes[last.range]))
    case .mark: return !")]}".utf8.contains(bytes[last.range.lowerBound])
    }
  }

  private var endOfBareRegex: Int? {
    guard at + 1 < bytes.count, bytes[at + 1] > 0x20 else { return nil }
    var end = at + 1
    let limit = min(bytes.count, at + Self.longestBareRegex)
    while end < limit, bytes[end] != UInt8(ascii: "\n") {
      if bytes[end] == UInt8(ascii: "/") { return end + 1 }
      end += bytes[end] == UInt8(ascii: "\\") ? 2 : 1
    }
    return nil
  }

  // MARK: Strings

  /// `#` begins a raw string, a regular expression, a directive or a macro.
  private mutating func hash() {
    var end = at
    while end < bytes.count, bytes[end] == UInt8(ascii: "#") { end += 1 }
    let hashes = end - at
    if end < bytes.count, bytes[end] == UInt8(ascii: "\"") { return string(hashes: hashes) }
    guard end < bytes.count, bytes[end] == UInt8(ascii: "/") else {
      at = end - 1
      return mark()
    }
    let start = at
    at = end + 1
    while at < bytes.count, !(bytes[at] == UInt8(ascii: "/") && hasHashes(hashes, at: at + 1)) { at += 1 }
    at = min(at + 1 + hashes, bytes.count)
    add(.text, from: start)
  }

  private mutating func string(hashes: Int) {
    let start = at
    at += hashes
    let isMultiline = matches("\"\"\"", at: at)
    at += isMultiline ? 3 : 1
    text(Literal(hashes: hashes, isMultiline: isMultiline), from: start)
  }

  /// Reads a string up to its end or its next interpolation.
  private mutating func text(_ literal: Literal, from start: Int) {
    while at < bytes.count {
      switch bytes[at] {
      case UInt8(ascii: "\n") where !literal.isMultiline: return add(.text, from: start)
      case UInt8(ascii: "\"") where isEnd(of: literal):
        at += (literal.isMultiline ? 3 : 1) + literal.hashes
        return add(.text, from: start)
      case UInt8(ascii: "\\") where hasHashes(literal.hashes, at: at + 1):
        at += 1 + literal.hashes
        guard at < bytes.count, bytes[at] == UInt8(ascii: "(") else {
          at = min(at + 1, bytes.count)
          continue
        }
        add(.text, from: start)
        strings.append((literal, 0))
        return
      default: at += 1
      }
    }
    add(.text, from: start)
  }

  private func isEnd(of literal: Literal) -> Bool {
    guard literal.isMultiline else { return hasHashes(literal.hashes, at: at + 1) }
    return matches("\"\"\"", at: at) && hasHashes(literal.hashes, at: at + 3)
  }

  // MARK: Bytes

  private func hasHashes(_ count: Int, at index: Int) -> Bool {
    index + count <= bytes.count && bytes[index..<(index + count)].allSatisfy { $0 == UInt8(ascii: "#") }
  }

  private func matches(_ text: String, at index: Int) -> Bool { bytes[index...].starts(with: text.utf8) }

  private static func isDigit(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
  }

  /// Swift's names may have any character outside of ASCII that is a letter; nothing else but strings and comments has one.
  static func isWord(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "_"),
      UInt8(ascii: "$"), 0x80...:
      true
    default: isDigit(byte)
    }
  }
}
