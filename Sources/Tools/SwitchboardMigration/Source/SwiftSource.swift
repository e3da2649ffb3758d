/// A file of Swift, split into tokens.
struct SwiftSource: Sendable {
  let bytes: [UInt8]
  let tokens: [SwiftToken]
  /// For each bracket, the index of the one that it belongs to; for every other token, and for a bracket without one, -1.
  private let partners: [Int32]
  private let lineStarts: [Int]

  init(_ bytes: [UInt8]) {
    self.bytes = bytes
    tokens = SwiftTokenizer.tokens(of: bytes)
    partners = Self.partners(tokens, bytes)
    lineStarts =
      [0] + bytes.indices.lazy.filter { bytes[$0] == UInt8(ascii: "\n") }.map { $0 + 1 }
  }

  subscript(_ index: Int) -> ArraySlice<UInt8> { bytes[tokens[index].range] }

  func text(_ range: Range<Int>) -> String { String(decoding: bytes[range], as: UTF8.self) }

  /// Whether there is a token at the index, and it is this one.
  func isToken(_ text: [UInt8], at index: Int) -> Bool {
    tokens.indices.contains(index) && self[index].elementsEqual(text)
  }

  func isToken(_ text: String, at index: Int) -> Bool {
    tokens.indices.contains(index) && self[index].elementsEqual(text.utf8)
  }

  func isWord(_ index: Int) -> Bool { tokens.indices.contains(index) && tokens[index].kind == .word }

  /// The last word of a name with dots that begins at a word, or one in the middle of a name that nobody would write.
  func lastWord(ofNameAt index: Int) -> Int {
    var last = index
    while isToken(".", at: last + 1), isWord(last + 2), last - index < Self.longestName { last += 2 }
    return last
  }

  private static let longestName = 100

  /// The bytes of some tokens, of which there is one at least.
  func bytes(of range: Range<Int>) -> Range<Int> {
    tokens[range.lowerBound].range.lowerBound..<tokens[range.upperBound - 1].range.upperBound
  }

  /// The bracket that belongs to the one at the index.
  func partner(of index: Int) -> Int? { partners[index] < 0 ? nil : Int(partners[index]) }

  /// The line of a byte, from 1.
  func line(of offset: Int) -> Int {
    var (low, high) = (0, lineStarts.count)
    while high - low > 1 {
      let middle = (low + high) / 2
      if lineStarts[middle] <= offset { low = middle } else { high = middle }
    }
    return low + 1
  }

  /// The white space before the first token of the line on which a byte is.
  func indentation(of offset: Int) -> String {
    let start = lineStarts[line(of: offset) - 1]
    return String(decoding: bytes[start...].prefix { $0 == 0x20 || $0 == 0x09 }, as: UTF8.self)
  }

  /// The bytes of the line on which a byte is, with its end.
  func lineRange(of offset: Int) -> Range<Int> {
    let line = line(of: offset)
    return lineStarts[line - 1]..<(line < lineStarts.count ? lineStarts[line] : bytes.count)
  }

  /// What ends a line of the file.
  var newline: String {
    guard let first = bytes.firstIndex(of: UInt8(ascii: "\n")), first > 0 else { return "\n" }
    return bytes[first - 1] == UInt8(ascii: "\r") ? "\r\n" : "\n"
  }

  private static func partners(_ tokens: [SwiftToken], _ bytes: [UInt8]) -> [Int32] {
    var partners = [Int32](repeating: -1, count: tokens.count)
    var open: [Int] = []
    for (index, token) in tokens.enumerated() where token.kind == .mark {
      switch bytes[token.range.lowerBound] {
      case UInt8(ascii: "("), UInt8(ascii: "["), UInt8(ascii: "{"): open.append(index)
      case UInt8(ascii: ")"), UInt8(ascii: "]"), UInt8(ascii: "}"):
        guard let start = open.popLast() else { continue }
        partners[start] = Int32(index)
        partners[index] = Int32(start)
      default: continue
      }
    }
    return partners
  }
}
