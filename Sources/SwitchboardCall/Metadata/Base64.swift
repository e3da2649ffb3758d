/// Base64 as `-bin` metadata uses it: encoded without padding, decoded with or without.
package enum Base64 {
  private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

  package static func encode(_ bytes: some Collection<UInt8>) -> [UInt8] {
    var encoded: [UInt8] = []
    encoded.reserveCapacity((bytes.count * 4 + 2) / 3)
    var pending: UInt32 = 0
    var bits = 0
    for byte in bytes {
      pending = pending << 8 | UInt32(byte)
      bits += 8
      while bits >= 6 {
        bits -= 6
        encoded.append(alphabet[Int(pending >> UInt32(bits) & 0x3f)])
      }
    }
    if bits > 0 { encoded.append(alphabet[Int(pending << UInt32(6 - bits) & 0x3f)]) }
    return encoded
  }

  /// Returns `nil` if a character is outside the alphabet or the length is impossible.
  package static func decode(_ text: some Collection<UInt8>) -> [UInt8]? {
    var decoded: [UInt8] = []
    decoded.reserveCapacity(text.count * 3 / 4)
    var pending: UInt32 = 0
    var bits = 0
    for digit in text {
      if digit == UInt8(ascii: "=") { break }
      guard let value = value(digit) else { return nil }
      pending = pending << 6 | value
      bits += 6
      if bits >= 8 {
        bits -= 8
        decoded.append(UInt8(truncatingIfNeeded: pending >> UInt32(bits)))
      }
    }
    return bits < 6 ? decoded : nil
  }

  /// The value of a character; `nil` outside the alphabet.
  package static func value(_ digit: UInt8) -> UInt32? {
    switch digit {
    case UInt8(ascii: "A")...UInt8(ascii: "Z"): UInt32(digit - UInt8(ascii: "A"))
    case UInt8(ascii: "a")...UInt8(ascii: "z"): UInt32(digit - UInt8(ascii: "a")) + 26
    case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt32(digit - UInt8(ascii: "0")) + 52
    case UInt8(ascii: "+"): 62
    case UInt8(ascii: "/"): 63
    default: nil
    }
  }
}
