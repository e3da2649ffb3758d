/// Base64, written in the standard alphabet.
package enum Base64 {
  // MARK: Writing

  /// The character of the standard alphabet for six bits.
  @inlinable @inline(__always)
  static func character(_ bits: UInt32) -> UInt32 {
    if bits < 52 {
      return bits < 26 ? bits + UInt32(UInt8(ascii: "A")) : bits - 26 + UInt32(UInt8(ascii: "a"))
    }
    if bits < 62 { return bits - 52 + UInt32(UInt8(ascii: "0")) }
    return UInt32(UInt8(ascii: bits == 62 ? "+" : "/"))
  }

  /// Passes on `bytes` with padding: four characters at a time, the first one lowest.
  @inlinable @inline(__always)
  package static func encode(_ bytes: Span<UInt8>, _ put: (UInt32) -> Void) {
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

  /// Without padding, as in `-bin` metadata.
  package static func encode(_ bytes: [UInt8]) -> [UInt8] {
    var text = padded(bytes)
    text.removeLast((3 - bytes.count % 3) % 3)
    return text
  }

  package static func encode(_ bytes: some Collection<UInt8>) -> [UInt8] { encode(Array(bytes)) }

  /// With padding, so that pieces can be concatenated.
  package static func padded(_ bytes: [UInt8]) -> [UInt8] {
    var text: [UInt8] = []
    text.reserveCapacity((bytes.count + 2) / 3 * 4)
    encode(bytes.span) { four in
      for offset in 0..<4 { text.append(UInt8(truncatingIfNeeded: four >> (8 * UInt32(offset)))) }
    }
    return text
  }

  package static func padded(_ bytes: some Collection<UInt8>) -> [UInt8] { padded(Array(bytes)) }

  // MARK: Reading

  /// The six bits of each character of the standard alphabet; those of the URL-safe one, where it differs, with a mark;
  /// and 0xFF for all others.
  private static let values: [UInt8] = {
    var values = [UInt8](repeating: 0xFF, count: 256)
    for bits in 0..<64 { values[Int(character(UInt32(bits)))] = UInt8(bits) }
    values[Int(UInt8(ascii: "-"))] = 62 | urlSafe
    values[Int(UInt8(ascii: "_"))] = 63 | urlSafe
    return values
  }()

  private static let urlSafe: UInt8 = 0x80

  /// The value of a character; `nil` outside the standard alphabet.
  package static func value(_ character: UInt8) -> UInt32? {
    let value = values[Int(character)]
    return value < 64 ? UInt32(value) : nil
  }

  /// Decodes the standard alphabet, as `-bin` metadata has it: the text ends at its padding, if it has any. `nil` if a
  /// character is outside the alphabet or the length is impossible.
  package static func decode(_ text: [UInt8]) -> [UInt8]? {
    decode(text.prefix { $0 != UInt8(ascii: "=") }, except: urlSafe)
  }

  package static func decode(_ text: some Collection<UInt8>) -> [UInt8]? { decode(Array(text)) }

  /// Decodes either alphabet, as JSON and URLs have it, with all of its padding or none. `nil` if the text is not Base64.
  package static func decodeEither(_ text: ArraySlice<UInt8>) -> [UInt8]? {
    var text = text
    let padding = text.suffix(2).count { $0 == UInt8(ascii: "=") }
    if padding > 0 {
      guard text.count % 4 == 0, text.last == UInt8(ascii: "=") else { return nil }
      text.removeLast(padding)
    }
    return decode(text, except: 0)
  }

  /// `mark` is that of characters which are not accepted.
  private static func decode(_ text: ArraySlice<UInt8>, except mark: UInt8) -> [UInt8]? {
    guard text.count % 4 != 1 else { return nil }
    var result: [UInt8] = []
    result.reserveCapacity(text.count / 4 * 3 + 2)
    let values = values
    var bits: UInt32 = 0
    var available = 0
    for character in text {
      let value = values[Int(character)]
      guard value != 0xFF, value & mark == 0 else { return nil }
      bits = bits << 6 | UInt32(value & 63)
      available += 6
      if available >= 8 {
        available -= 8
        result.append(UInt8(truncatingIfNeeded: bits >> UInt32(available)))
      }
    }
    return result
  }
}
