// unsafe: eight bytes at once, within bounds that the loop checks

import SwitchboardText

extension JSONReader {
  /// The range of a string's text between its quotes.
  struct StringToken {
    let range: Range<Int>
    let hasEscapes: Bool
  }

  /// Reads a string.
  mutating func string() throws(DecodeError) -> String { try text(of: stringToken()) }

  /// Skips a string and returns its range.
  mutating func stringToken() throws(DecodeError) -> StringToken {
    guard peek() == UInt8(ascii: "\"") else { throw unexpected("a string") }
    let token = try token(from: position + 1)
    position = token.range.upperBound + 1
    return token
  }

  private func token(from start: Int) throws(DecodeError) -> StringToken {
    let span = bytes.span
    let raw = span.bytes
    var index = start
    var hasEscapes = false
    while index < span.count {
      if index &+ 8 <= span.count {
        let word = raw.unsafeLoadUnaligned(fromByteOffset: index, as: UInt64.self)
        let marks = JSONEscapes.marks(in: UInt64(littleEndian: word))
        index &+= marks.trailingZeroBitCount / 8  // 8 if there are none
        if marks == 0 { continue }
      }
      let byte = span[index]
      if byte == UInt8(ascii: "\"") { return StringToken(range: start..<index, hasEscapes: hasEscapes) }
      if byte == UInt8(ascii: "\\") {
        hasEscapes = true
        index &+= 1  // an escaped quote does not end the string
      } else if byte < 0x20 {
        throw fail("control character in a string", at: index)
      }
      index &+= 1
    }
    throw fail("unterminated string", at: start - 1)
  }

  /// The text of a token, unescaped.
  func text(of token: StringToken) throws(DecodeError) -> String {
    if token.hasEscapes { return String(decoding: try unescaped(token), as: UTF8.self) }
    // All of the input is valid UTF-8, so the text between two quotes is too.
    guard let text = try? UTF8Span(validating: bytes.span.extracting(token.range)) else {
      throw fail("invalid UTF-8", at: token.range.lowerBound)
    }
    return String(copying: text)
  }

  /// The UTF-8 of a token, unescaped.
  func contents(of token: StringToken) throws(DecodeError) -> ArraySlice<UInt8> {
    token.hasEscapes ? try unescaped(token)[...] : bytes[token.range]
  }

  /// Replaces the escapes in a token.
  func unescaped(_ token: StringToken) throws(DecodeError) -> [UInt8] {
    var result: [UInt8] = []
    result.reserveCapacity(token.range.count)
    var index = token.range.lowerBound
    while index < token.range.upperBound {
      let byte = bytes[index]
      index += 1
      if byte == UInt8(ascii: "\\") {
        try unescape(at: &index, into: &result)
      } else {
        result.append(byte)
      }
    }
    return result
  }

  /// Replaces the escape whose backslash is before `index`. The token does not end with a backslash.
  private func unescape(at index: inout Int, into result: inout [UInt8]) throws(DecodeError) {
    let letter = bytes[index]
    index += 1
    switch letter {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): result.append(letter)
    case UInt8(ascii: "b"): result.append(0x08)
    case UInt8(ascii: "f"): result.append(0x0C)
    case UInt8(ascii: "n"): result.append(0x0A)
    case UInt8(ascii: "r"): result.append(0x0D)
    case UInt8(ascii: "t"): result.append(0x09)
    case UInt8(ascii: "u"):
      result += UTF8.encode(try escapedScalar(at: &index)) ?? UTF8.encodedReplacementCharacter
    default: throw fail("unknown escape", at: index - 2)
    }
  }

  /// The character of one `\u` escape, or of two that form a surrogate pair.
  private func escapedScalar(at index: inout Int) throws(DecodeError) -> Unicode.Scalar {
    let start = index - 2
    let first = try hexDigits(at: &index)
    if let scalar = Unicode.Scalar(first) { return scalar }
    let isPair = bytes[index...].starts(with: [UInt8(ascii: "\\"), UInt8(ascii: "u")])
    guard first < 0xDC00, isPair else { throw fail("unpaired surrogate", at: start) }
    index += 2
    let second = try hexDigits(at: &index)
    guard 0xDC00..<0xE000 ~= second,
      let scalar = Unicode.Scalar(0x10000 + (first - 0xD800) << 10 + (second - 0xDC00))
    else { throw fail("unpaired surrogate", at: start) }
    return scalar
  }

  private func hexDigits(at index: inout Int) throws(DecodeError) -> UInt32 {
    var value: UInt32 = 0
    for _ in 0..<4 {
      // The closing quote is not a hexadecimal digit, so the index stays within the string.
      guard let digit = Hex.value(bytes[index]) else {
        throw fail("expected four hexadecimal digits", at: index)
      }
      value = value << 4 | UInt32(digit)
      index += 1
    }
    return value
  }
}
