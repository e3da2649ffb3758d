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
