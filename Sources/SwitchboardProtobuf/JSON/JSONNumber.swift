/// A number as JSON spells it, without loss: `±digits · 10^exponent`.
struct JSONNumber {
  var isNegative = false

  /// The digits up to the last that is not zero. Zero where there are none.
  private(set) var digits: UInt64 = 0
  /// Whether there are more digits than 64 bits hold.
  private(set) var isLong = false
  /// The power of ten that stands behind ``digits``.
  private(set) var exponent = 0
  private var zeros = 0

  /// Where the number stands.
  var range = 0..<0

  /// Adds a digit behind the others.
  @inline(__always)
  mutating func append(_ digit: UInt8, isFraction: Bool) {
    if isFraction { exponent -= 1 }
    if digit == 0 {
      // Zeros are held back: behind the last digit they count for the exponent alone.
      if digits > 0 { zeros += 1 }
      return
    }
    if zeros > 0 { flushZeros() }
    let (shifted, overflow) = digits.multipliedReportingOverflow(by: 10)
    let (sum, carry) = shifted.addingReportingOverflow(UInt64(digit))
    digits = sum
    isLong = isLong || overflow || carry
    if digits == 0 { digits = 1 }  // wrapped, and long: any digits will do but zero
  }

  private mutating func flushZeros() {
    for _ in 0..<min(zeros, 20) {
      let (shifted, overflow) = digits.multipliedReportingOverflow(by: 10)
      digits = overflow ? 1 : shifted
      isLong = isLong || overflow
    }
    zeros = 0
  }

  /// Ends the digits with the exponent that was written, if any.
  mutating func finish(exponent written: Int) { exponent += written + zeros }

  /// The number as an integer, where it is one and fits.
  func integer<I: FixedWidthInteger>(_ type: I.Type) -> I? {
    if digits == 0 { return 0 }
    guard !isLong, 0..<20 ~= exponent else { return nil }
    var magnitude = digits
    for _ in 0..<exponent {
      let (shifted, overflow) = magnitude.multipliedReportingOverflow(by: 10)
      if overflow { return nil }
      magnitude = shifted
    }
    guard isNegative else { return I(exactly: magnitude) }
    guard magnitude <= UInt64(I.min.magnitude) else { return nil }
    return I(truncatingIfNeeded: 0 &- magnitude)
  }

  /// The number as a `Double`, where a single operation on exact values gives it.
  var simpleDouble: Double? {
    guard !isLong, digits <= 1 << 53, -22...22 ~= exponent else { return nil }
    let power = JSONNumber.powersOfTen[abs(exponent)]
    let magnitude = exponent < 0 ? Double(digits) / power : Double(digits) * power
    return isNegative ? -magnitude : magnitude
  }

  /// The number as a `Float`, where a single operation on exact values gives it.
  var simpleFloat: Float? {
    guard !isLong, digits <= 1 << 24, -10...10 ~= exponent else { return nil }
    let power = Float(JSONNumber.powersOfTen[abs(exponent)])
    let magnitude = exponent < 0 ? Float(digits) / power : Float(digits) * power
    return isNegative ? -magnitude : magnitude
  }

  /// Those that a `Double` holds exactly; the first eleven a `Float` does too.
  private static let powersOfTen: [Double] = [
    1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11,
    1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
  ]
}
