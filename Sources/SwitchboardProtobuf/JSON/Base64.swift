/// Base64 for `bytes` in JSON and for descriptors in generated code.
@_spi(Generation)
public enum Base64 {
  private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

  /// The six bits of each character of both alphabets, or 0xFF.
  private static let values: [UInt8] = {
    var values = [UInt8](repeating: 0xFF, count: 256)
    for (value, character) in alphabet.enumerated() { values[Int(character)] = UInt8(value) }
    values[Int(UInt8(ascii: "-"))] = 62
    values[Int(UInt8(ascii: "_"))] = 63
    return values
  }()

  /// Appends `bytes` in the standard alphabet, with padding.
  public static func encode(_ bytes: [UInt8], into output: inout [UInt8]) {
    var index = 0
    while index < bytes.count {
      let count = min(3, bytes.count - index)
      var bits: UInt32 = 0
      for offset in 0..<3 {
        bits = bits << 8 | (offset < count ? UInt32(bytes[index + offset]) : 0)
      }
      for place in 0..<4 {
        let value = Int(bits >> (18 - 6 * UInt32(place))) & 0x3F
        output.append(place <= count ? alphabet[value] : UInt8(ascii: "="))
      }
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
