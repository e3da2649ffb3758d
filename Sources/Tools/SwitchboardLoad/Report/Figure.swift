/// Numbers as people read and write them.
package enum Figure {
  /// A number with a fixed number of decimals.
  package static func decimal(_ value: Double, places: Int) -> String {
    guard value.isFinite, abs(value) < 1e15 else { return value.isNaN ? "-" : value < 0 ? "-inf" : "inf" }
    var scale: Int64 = 1
    for _ in 0..<places { scale *= 10 }
    guard abs(value) * Double(scale) < 9e18 else { return decimal(value, places: 0) }
    let scaled = Int64((abs(value) * Double(scale)).rounded())
    let sign = value < 0 && scaled > 0 ? "-" : ""
    guard places > 0 else { return "\(sign)\(scaled)" }
    let decimals = String(scaled % scale)
    return "\(sign)\(scaled / scale)." + String(repeating: "0", count: places - decimals.utf8.count)
      + decimals
  }

  /// A number with at least three significant digits.
  package static func significant(_ value: Double) -> String {
    let size = abs(value)
    return decimal(value, places: size >= 100 ? 0 : size >= 10 ? 1 : size >= 1 ? 2 : 3)
  }

  /// A time in nanoseconds, in the unit that suits it.
  package static func time(_ nanoseconds: Double) -> String {
    switch abs(nanoseconds) {
    case ..<1: "0 us"
    case ..<999_500: "\(significant(nanoseconds / 1e3)) us"
    case ..<999_500_000: "\(significant(nanoseconds / 1e6)) ms"
    default: "\(significant(nanoseconds / 1e9)) s"
    }
  }

  /// A whole number, in groups of three digits.
  package static func grouped(_ value: Double) -> String {
    let digits = Array(decimal(value, places: 0))
    var text = ""
    for (index, digit) in digits.enumerated() {
      if index > 0, (digits.count - index) % 3 == 0, digit.isNumber, digits[index - 1].isNumber {
        text += ","
      }
      text.append(digit)
    }
    return text
  }

  /// A rate in calls per second.
  package static func rate(_ value: Double) -> String {
    value >= 100 ? "\(grouped(value))/s" : "\(significant(value))/s"
  }

  /// A number without trailing zeros: 99, 99.9.
  package static func short(_ value: Double) -> String {
    var text = decimal(value, places: 4)
    while text.hasSuffix("0") { text.removeLast() }
    if text.hasSuffix(".") { text.removeLast() }
    return text
  }

  // MARK: Reading

  /// Parses a non-negative number: digits and an optional decimal point.
  package static func number(_ text: some StringProtocol) -> Double? {
    guard !text.isEmpty, text.utf8.count <= 20,
      text.utf8.allSatisfy({ $0 >= 0x30 && $0 <= 0x39 || $0 == UInt8(ascii: ".") })
    else { return nil }
    return Double(text)
  }

  /// Parses a time such as `250us`, `20ms`, `1.5s`, `10m` or `1h`.
  package static func nanoseconds(_ text: some StringProtocol) -> Double? {
    let units: [(String, Double)] = [
      ("us", 1e3), ("µs", 1e3), ("ms", 1e6), ("ns", 1), ("s", 1e9), ("m", 60e9), ("h", 3600e9),
    ]
    for (unit, scale) in units where text.hasSuffix(unit) {
      return number(text.dropLast(unit.count)).map { $0 * scale }
    }
    return nil
  }
}
