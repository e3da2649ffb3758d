import SwitchboardText

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

  var bytes: [UInt8] { high.bigEndianBytes + low.bigEndianBytes }
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

  var bytes: [UInt8] { value.bigEndianBytes }
}

extension UInt64 {
  fileprivate var bigEndianBytes: [UInt8] {
    (0..<8).map { UInt8(truncatingIfNeeded: self >> (56 - 8 * UInt64($0))) }
  }
}
