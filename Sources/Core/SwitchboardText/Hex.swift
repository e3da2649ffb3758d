/// Hexadecimal digits.
package enum Hex {
  /// The digit for a value below 16, in lower case.
  @inlinable @inline(__always)
  package static func lower(_ value: UInt8) -> UInt8 { value < 10 ? value | 0x30 : value &+ 0x57 }

  /// The digit for a value below 16, in upper case.
  @inlinable @inline(__always)
  package static func upper(_ value: UInt8) -> UInt8 { value < 10 ? value | 0x30 : value &+ 0x37 }

  /// The value of a digit in either case.
  @inlinable @inline(__always)
  package static func value(_ digit: UInt8) -> UInt8? {
    switch digit {
    case 0x41...0x46: digit &- 0x37
    default: lowerValue(digit)
    }
  }

  /// The value of a digit that is not in upper case.
  @inlinable @inline(__always)
  package static func lowerValue(_ digit: UInt8) -> UInt8? {
    switch digit {
    case 0x30...0x39: digit & 15
    case 0x61...0x66: digit &- 0x57
    default: nil
    }
  }

  /// The number with these digits in either case, at most sixteen. `nil` for no digits, or anything else, such as a sign,
  /// which `UInt64(_:radix:)` accepts.
  package static func number(_ digits: some Collection<UInt8>) -> UInt64? {
    digits.isEmpty ? nil : number(digits, value)
  }

  /// The number with these digits, at most sixteen and none in upper case.
  package static func lowerNumber(_ digits: some Collection<UInt8>) -> UInt64? { number(digits, lowerValue) }

  private static func number(_ digits: some Collection<UInt8>, _ value: (UInt8) -> UInt8?) -> UInt64? {
    var number: UInt64 = 0
    for digit in digits {
      guard let value = value(digit) else { return nil }
      number = number << 4 | UInt64(value)
    }
    return number
  }

  /// Sixteen digits, in lower case.
  package static func text(_ value: UInt64) -> String {
    let digits = (0..<16).map { lower(UInt8(truncatingIfNeeded: value >> (60 - 4 * UInt64($0))) & 15) }
    return String(decoding: digits, as: UTF8.self)
  }
}
