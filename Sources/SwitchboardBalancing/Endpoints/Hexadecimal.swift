/// Numbers in hexadecimal digits.
enum Hexadecimal {
  /// The value of one to eight digits; nil for anything else, such as a sign, which `UInt32(_:radix:)` accepts.
  static func value(_ digits: ArraySlice<UInt8>) -> UInt32? {
    guard (1...8).contains(digits.count) else { return nil }
    var value: UInt32 = 0
    for digit in digits {
      switch digit {
      case UInt8(ascii: "0")...UInt8(ascii: "9"): value = value << 4 | UInt32(digit & 15)
      case UInt8(ascii: "a")...UInt8(ascii: "f"), UInt8(ascii: "A")...UInt8(ascii: "F"):
        value = value << 4 | UInt32(digit & 15 + 9)
      default: return nil
      }
    }
    return value
  }
}
