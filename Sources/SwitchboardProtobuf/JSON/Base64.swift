/// Base64 for `bytes` in JSON and for descriptors in generated code.
@_spi(Generation)
public enum Base64 {
  /// The six bits of each character of both alphabets, or 0xFF.
  private static let values: [UInt8] = {
    var values = [UInt8](repeating: 0xFF, count: 256)
    for bits in 0..<64 { values[Int(character(UInt32(bits)))] = UInt8(bits) }
    values[Int(UInt8(ascii: "-"))] = 62
    values[Int(UInt8(ascii: "_"))] = 63
    return values
  }()

  /// The character of the standard alphabet for six bits.
  @inline(__always)
  private static func character(_ bits: UInt32) -> UInt32 {
    if bits < 52 {
      return bits < 26 ? bits + UInt32(UInt8(ascii: "A")) : bits - 26 + UInt32(UInt8(ascii: "a"))
    }
    if bits < 62 { return bits - 52 + UInt32(UInt8(ascii: "0")) }
    return UInt32(UInt8(ascii: bits == 62 ? "+" : "/"))
  }

  /// Appends `bytes` in the standard alphabet, with padding.
  public static func encode(_ bytes: [UInt8], into output: inout [UInt8]) {
    encode(bytes.span) { four in
      for offset in 0..<4 { output.append(UInt8(truncatingIfNeeded: four >> (8 * UInt32(offset)))) }
    }
  }

  /// Passes on `bytes` in the standard alphabet, with padding: four characters at a time, the first one lowest.
  @inline(__always)
  static func encode(_ bytes: Span<UInt8>, _ put: (UInt32) -> Void) {
    var index = 0
    while index < bytes.count {
      let left = bytes.count - index
      let second = left > 1 ? UInt32(bytes[index + 1]) : 0
      let third = left > 2 ? UInt32(bytes[index + 2]) : 0
      let bits = UInt32(bytes[index]) << 16 | second << 8 | third
      let padding = UInt32(UInt8(ascii: "="))
      let last = left > 2 ? character(bits & 0x3F) : padding
      let beforeLast = left > 1 ? character(bits >> 6 & 0x3F) : padding
      put(character(bits >> 18) | character(bits >> 12 & 0x3F) << 8 | beforeLast << 16 | last << 24)
      index += 3
    }
  }

  /// Decodes text in either alphabet, with or without padding. Nil if the text is not Base64.
  public static func decode(_ text: ArraySlice<UInt8>) -> [UInt8]? {
    var text = text
    let padding = text.suffix(2).count { $0 == UInt8(ascii: "=") }
    if padding > 0 {
      guard text.count % 4 == 0, text.last == UInt8(ascii: "=") else { return nil }
      text.removeLast(padding)
    }
    guard text.count % 4 != 1 else { return nil }
    var result: [UInt8] = []
    result.reserveCapacity(text.count / 4 * 3 + 2)
    var bits: UInt32 = 0
    var available = 0
    for character in text {
      let value = values[Int(character)]
      guard value != 0xFF else { return nil }
      bits = bits << 6 | UInt32(value)
      available += 6
      if available >= 8 {
        available -= 8
        result.append(UInt8(truncatingIfNeeded: bits >> UInt32(available)))
      }
    }
    return result
  }
}
