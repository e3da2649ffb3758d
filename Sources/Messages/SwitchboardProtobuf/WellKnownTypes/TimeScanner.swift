/// Reads the digits of points in time and durations.
struct TimeScanner {
  private(set) var rest: ArraySlice<UInt8>

  init(_ text: ArraySlice<UInt8>) { rest = text }

  var isAtEnd: Bool { rest.isEmpty }

  /// Skips `byte` if it comes next.
  mutating func take(_ byte: UInt8) -> Bool {
    guard rest.first == byte else { return false }
    rest.removeFirst()
    return true
  }

  /// Reads a number of exactly `count` digits.
  mutating func number(digits count: Int) -> Int? {
    let start = rest.startIndex
    guard let value = number(), rest.startIndex - start == count else { return nil }
    return value
  }

  /// Reads a number of one to eighteen digits.
  mutating func number() -> Int? {
    var value = 0
    var count = 0
    while let digit = rest.first.map({ $0 &- UInt8(ascii: "0") }), digit < 10 {
      guard count < 18 else { return nil }
      value = value * 10 + Int(digit)
      count += 1
      rest.removeFirst()
    }
    return count > 0 ? value : nil
  }

  /// Reads a fraction of one to nine digits after a dot, in nanoseconds; zero if there is no dot.
  mutating func fraction() -> Int32? {
    guard take(UInt8(ascii: ".")) else { return 0 }
    let start = rest.startIndex
    guard var value = number() else { return nil }
    let count = rest.startIndex - start
    guard count <= 9 else { return nil }
    for _ in count..<9 { value *= 10 }
    return Int32(value)
  }
}

/// Formats points in time and durations.
enum TimeText {
  /// A number, padded with zeros to `width` digits.
  static func padded(_ value: some BinaryInteger, _ width: Int) -> String {
    let digits = String(value)
    return String(repeating: "0", count: max(0, width - digits.count)) + digits
  }

  /// Nothing, or a dot and three, six or nine digits: the fewest that express the nanoseconds.
  static func fraction(_ nanos: Int32) -> String {
    switch nanos {
    case 0: ""
    case _ where nanos % 1_000_000 == 0: "." + padded(nanos / 1_000_000, 3)
    case _ where nanos % 1000 == 0: "." + padded(nanos / 1000, 6)
    default: "." + padded(nanos, 9)
    }
  }
}
