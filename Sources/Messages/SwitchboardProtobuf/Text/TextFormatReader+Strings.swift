extension TextFormatReader {
  /// Whether a string comes next.
  var isAtString: Bool { isAt("\"") || isAt("'") }

  /// Reads a string: the bytes of one or more quoted parts.
  mutating func bytes() throws(DecodeError) -> [UInt8] {
    guard isAtString else { throw unexpected("a string") }
    var content: [UInt8] = []
    while isAtString { try quoted(into: &content) }
    return content
  }

  private mutating func quoted(into content: inout [UInt8]) throws(DecodeError) {
    let quote = next
    var index = position + 1
    while let byte = byte(at: index), byte != UInt8(ascii: "\n"), byte != 0 {
      index += 1
      if byte == quote { return advance(to: index) }
      if byte == UInt8(ascii: "\\") {
        index = try escape(at: index, into: &content)
      } else {
        content.append(byte)
      }
    }
    throw error("unterminated string", at: position)
  }

  /// Decodes the escape sequence after a backslash; `index` is that of its first byte. Returns the index after it.
  private func escape(at index: Int, into content: inout [UInt8]) throws(DecodeError) -> Int {
    guard let byte = byte(at: index) else { throw error("unterminated string", at: position) }
    if let plain = TextFormatReader.plainEscape(byte) {
      content.append(plain)
      return index + 1
    }
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "7"): return try octal(at: index, into: &content)
    case UInt8(ascii: "x"): return try hexadecimal(at: index + 1, into: &content)
    case UInt8(ascii: "u"): return try scalar(at: index + 1, digits: 4, into: &content)
    case UInt8(ascii: "U"): return try scalar(at: index + 1, digits: 8, into: &content)
    default: throw error("unknown escape sequence", at: index - 1)
    }
  }

  private static func plainEscape(_ byte: UInt8) -> UInt8? {
    switch byte {
    case UInt8(ascii: "a"): 0x07
    case UInt8(ascii: "b"): 0x08
    case UInt8(ascii: "f"): 0x0C
    case UInt8(ascii: "n"): 0x0A
    case UInt8(ascii: "r"): 0x0D
    case UInt8(ascii: "t"): 0x09
    case UInt8(ascii: "v"): 0x0B
    case UInt8(ascii: "?"), UInt8(ascii: "\\"), UInt8(ascii: "'"), UInt8(ascii: "\""): byte
    default: nil
    }
  }

  /// Decodes one to three digits.
  private func octal(at index: Int, into content: inout [UInt8]) throws(DecodeError) -> Int {
    var value: UInt32 = 0
    var end = index
    while end < index + 3, let digit = TextFormatReader.hexValue(byte(at: end)), digit < 8 {
      value = value * 8 + digit
      end += 1
    }
    guard let byte = UInt8(exactly: value) else {
      throw error("the octal escape does not fit a byte", at: index - 1)
    }
    content.append(byte)
    return end
  }

  /// Decodes one or two digits.
  private func hexadecimal(at index: Int, into content: inout [UInt8]) throws(DecodeError) -> Int {
    guard let first = TextFormatReader.hexValue(byte(at: index)) else {
      throw error("expected hexadecimal digits", at: index - 2)
    }
    guard let second = TextFormatReader.hexValue(byte(at: index + 1)) else {
      content.append(UInt8(first))
      return index + 1
    }
    content.append(UInt8(first * 16 + second))
    return index + 2
  }

  /// Decodes exactly `count` digits; surrogates are rejected.
  private func scalar(
    at index: Int,
    digits count: Int,
    into content: inout [UInt8]
  ) throws(DecodeError) -> Int {
    var value: UInt32 = 0
    for position in index..<index + count {
      guard let digit = TextFormatReader.hexValue(byte(at: position)) else {
        throw error("expected \(count) hexadecimal digits", at: index - 2)
      }
      value = value << 4 | digit
    }
    guard let scalar = Unicode.Scalar(value) else {
      throw error("the escape is not a Unicode character", at: index - 2)
    }
    content += UTF8.encode(scalar).map(Array.init) ?? []
    return index + count
  }
}
