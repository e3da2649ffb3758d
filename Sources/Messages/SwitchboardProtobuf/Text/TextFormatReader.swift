import SwitchboardText

/// A cursor over text: the tokens of the text format.
///
/// Between calls the cursor is at a token or at the end; white space and comments are skipped.
public struct TextFormatReader {
  let input: [UInt8]

  /// The offset of the next token.
  private(set) var position = 0
  /// The enum of the field that is read, if it was described at run time.
  var enumTable: EnumTable?

  init(_ text: String) {
    input = Array(text.utf8)
    skipSpace()
  }

  /// Whether the input is exhausted.
  var isAtEnd: Bool { position >= input.count }

  /// The first byte of the next token.
  var next: UInt8? { byte(at: position) }

  func byte(at index: Int) -> UInt8? { index < input.count ? input[index] : nil }

  /// Whether the next token is `symbol`.
  func isAt(_ symbol: Unicode.Scalar) -> Bool { next == UInt8(ascii: symbol) }

  /// Moves to the first token at or after `index`.
  mutating func advance(to index: Int) {
    position = index
    skipSpace()
  }

  private mutating func skipSpace() {
    while let byte = next {
      switch byte {
      case UInt8(ascii: " "), 0x09...0x0D: position += 1
      // A zero byte is not valid in text, so it ends a comment.
      case UInt8(ascii: "#"):
        position = input[position...].firstIndex { $0 == UInt8(ascii: "\n") || $0 == 0 } ?? input.count
      default: return
      }
    }
  }

  // MARK: Symbols and names

  /// Reads `symbol` if it comes next.
  mutating func take(_ symbol: Unicode.Scalar) -> Bool {
    guard isAt(symbol) else { return false }
    advance(to: position + 1)
    return true
  }

  /// Reads `symbol`; throws if it does not come next.
  mutating func expect(_ symbol: Unicode.Scalar) throws(DecodeError) {
    guard take(symbol) else { throw unexpected("'\(symbol)'") }
  }

  /// Reads a name; nil if none comes next.
  mutating func identifier() -> String? {
    guard let first = next, TextFormatReader.isLetter(first) else { return nil }
    let start = position
    let isLater = { (byte: UInt8) in TextFormatReader.isLetter(byte) || TextFormatReader.isDigit(byte) }
    let end = input[start...].firstIndex { !isLater($0) } ?? input.count
    advance(to: end)
    return text(start..<end)
  }

  func text(_ range: Range<Int>) -> String { String(decoding: input[range], as: UTF8.self) }

  static func isLetter(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "_"): true
    default: false
    }
  }

  static func isDigit(_ byte: UInt8) -> Bool { byte >= UInt8(ascii: "0") && byte <= UInt8(ascii: "9") }

  /// The value of a hexadecimal digit.
  static func hexValue(_ byte: UInt8?) -> UInt32? { byte.flatMap(Hex.value).map(UInt32.init) }

  // MARK: Errors

  /// An error with the line and the column of `index`, both counted from one. A long text is cut.
  func error(_ text: String, at index: Int) -> DecodeError {
    let place = TextPosition(of: index, in: input)
    return DecodeError(.malformed("line \(place.line), column \(place.column): \(text.excerpt(300))"))
  }

  /// An error that says that `wanted` was expected and what was found.
  func unexpected(_ wanted: String) -> DecodeError {
    guard let next else { return error("expected \(wanted), found the end", at: position) }
    let isPrintable = next > 0x20 && next < 0x7F
    let found = isPrintable ? "'\(Unicode.Scalar(next))'" : "byte \(next)"
    return error("expected \(wanted), found \(found)", at: position)
  }
}
