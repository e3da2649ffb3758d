/// The identity of a trace: sixteen bytes, which are not all zero.
public struct TraceID: Sendable, Hashable, CustomStringConvertible {
  let high: UInt64
  let low: UInt64

  init(high: UInt64, low: UInt64) {
    self.high = high
    self.low = low
  }

  var isValid: Bool { high != 0 || low != 0 }

  /// 32 hexadecimal digits.
  public var description: String { Hex.text(high) + Hex.text(low) }

  var bytes: [UInt8] { Hex.bytes(high) + Hex.bytes(low) }
}

/// The identity of a span within its trace: eight bytes, which are not all zero.
public struct SpanID: Sendable, Hashable, CustomStringConvertible {
  let value: UInt64

  init(_ value: UInt64) {
    self.value = value
  }

  var isValid: Bool { value != 0 }

  /// 16 hexadecimal digits.
  public var description: String { Hex.text(value) }

  var bytes: [UInt8] { Hex.bytes(value) }
}

/// Hexadecimal digits in lower case. Trace headers allow no others.
enum Hex {
  /// The eight digits of a number, the first one in the highest byte. They are computed together, because each call
  /// writes many.
  @inline(__always)
  static func digits(_ value: UInt32) -> UInt64 {
    var nibbles = UInt64(value)
    nibbles = (nibbles | nibbles << 16) & 0x0000_ffff_0000_ffff
    nibbles = (nibbles | nibbles << 8) & 0x00ff_00ff_00ff_00ff
    nibbles = (nibbles | nibbles << 4) & 0x0f0f_0f0f_0f0f_0f0f
    let isLetter = (nibbles &+ 0x0606_0606_0606_0606) >> 4 & 0x0101_0101_0101_0101
    return nibbles &+ 0x3030_3030_3030_3030 &+ isLetter &* 0x27
  }

  /// The number with these sixteen digits, the first of each eight in the highest byte. `nil` if one of them is not a digit.
  @inline(__always)
  static func number(digits high: UInt64, _ low: UInt64) -> UInt64? {
    (faults(high) | faults(low)) == 0 ? value(high, low) : nil
  }

  /// The same for digits that have no faults.
  @inline(__always)
  static func value(_ high: UInt64, _ low: UInt64) -> UInt64 {
    UInt64(value(high)) << 32 | UInt64(value(low))
  }

  @inline(__always)
  private static func value(_ digits: UInt64) -> UInt32 {
    let isLetter = digits >> 6 & 0x0101_0101_0101_0101
    var nibbles = digits & 0x0f0f_0f0f_0f0f_0f0f &+ isLetter &* 9
    nibbles = (nibbles | nibbles >> 4) & 0x00ff_00ff_00ff_00ff
    nibbles = (nibbles | nibbles >> 8) & 0x0000_ffff_0000_ffff
    return UInt32(truncatingIfNeeded: nibbles | nibbles >> 16)
  }

  /// The highest bit of each byte that is no digit. Each sum has this bit where a byte is not below a bound.
  @inline(__always)
  static func faults(_ digits: UInt64) -> UInt64 {
    let low = digits & 0x7f7f_7f7f_7f7f_7f7f
    let isNumeral = (low &+ 0x5050_5050_5050_5050) & ~(low &+ 0x4646_4646_4646_4646)
    let isLetter = (low &+ 0x1f1f_1f1f_1f1f_1f1f) & ~(low &+ 0x1919_1919_1919_1919)
    return (~(isNumeral | isLetter) | digits) & 0x8080_8080_8080_8080
  }

  @inline(__always)
  static func digit(_ value: UInt64) -> UInt8 {
    let value = UInt8(truncatingIfNeeded: value & 15)
    return value < 10 ? value + UInt8(ascii: "0") : value - 10 + UInt8(ascii: "a")
  }

  static func text(_ value: UInt64) -> String {
    String(decoding: (0..<16).map { digit(value >> (60 - 4 * UInt64($0))) }, as: UTF8.self)
  }

  static func bytes(_ value: UInt64) -> [UInt8] {
    (0..<8).map { UInt8(truncatingIfNeeded: value >> (56 - 8 * UInt64($0))) }
  }

  static func value(of digit: UInt8) -> UInt64? {
    switch digit {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt64(digit - UInt8(ascii: "0"))
    case UInt8(ascii: "a")...UInt8(ascii: "f"): UInt64(digit - UInt8(ascii: "a") + 10)
    default: nil
    }
  }

  /// The number with these digits, of which there are at most sixteen.
  static func number(_ digits: some Collection<UInt8>) -> UInt64? {
    var number: UInt64 = 0
    for digit in digits {
      guard let value = value(of: digit) else { return nil }
      number = number << 4 | value
    }
    return number
  }
}
