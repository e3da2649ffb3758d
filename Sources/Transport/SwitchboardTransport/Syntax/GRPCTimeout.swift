/// The value of `grpc-timeout`: at most eight digits and a unit.
package struct GRPCTimeout: Equatable, Sendable {
  package var nanoseconds: UInt64

  private static let units: [(letter: UInt8, nanoseconds: UInt64)] = [
    (UInt8(ascii: "n"), 1),
    (UInt8(ascii: "u"), 1_000),
    (UInt8(ascii: "m"), 1_000_000),
    (UInt8(ascii: "S"), 1_000_000_000),
    (UInt8(ascii: "M"), 60_000_000_000),
    (UInt8(ascii: "H"), 3_600_000_000_000),
  ]

  private static let largestCount: UInt64 = 99_999_999

  package init(nanoseconds: UInt64) { self.nanoseconds = nanoseconds }

  /// Returns `nil` if the value is malformed. A timeout beyond 64 bits becomes the longest possible.
  package init?(_ value: some BidirectionalCollection<UInt8>) {
    guard let letter = value.last, let unit = Self.units.first(where: { $0.letter == letter }) else {
      return nil
    }
    let digits = value.dropLast()
    guard (1...8).contains(digits.count) else { return nil }
    var count: UInt64 = 0
    for digit in digits {
      guard digit >= UInt8(ascii: "0"), digit <= UInt8(ascii: "9") else { return nil }
      count = count * 10 + UInt64(digit - UInt8(ascii: "0"))
    }
    let (product, overflow) = count.multipliedReportingOverflow(by: unit.nanoseconds)
    nanoseconds = overflow ? .max : product
  }

  /// The timeout in the finest unit that fits into eight digits, rounded up: a server must not give up first.
  package var encoded: [UInt8] {
    for unit in Self.units {
      let whole = nanoseconds / unit.nanoseconds
      let count = nanoseconds % unit.nanoseconds == 0 ? whole : whole + 1
      if count <= Self.largestCount { return Array(String(count).utf8) + [unit.letter] }
    }
    return Array("\(Self.largestCount)H".utf8)
  }
}
