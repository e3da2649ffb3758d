/// A number in JSON, without loss: `±digits · 10^exponent`.
struct JSONNumber {
  var isNegative = false

  /// The digits up to the last that is not zero; 0 if there are none.
  private(set) var digits: UInt64 = 0
  /// Whether the digits exceed 64 bits.
  private(set) var isLong = false
  /// The power of ten to multiply ``digits`` by.
  private(set) var exponent = 0
  private var zeros = 0

  /// The range of the number in the input.
  var range = 0..<0

  /// Appends a digit.
  @inline(__always)
  mutating func append(_ digit: UInt8, isFraction: Bool) {
    if isFraction { exponent -= 1 }
    if digit == 0 {
      // Zeros are counted separately: trailing ones affect only the exponent.
      if digits > 0 { zeros += 1 }
      return
    }
    if zeros > 0 { flushZeros() }
    let (shifted, overflow) = digits.multipliedReportingOverflow(by: 10)
    let (sum, carry) = shifted.addingReportingOverflow(UInt64(digit))
    digits = sum
    isLong = isLong || overflow || carry
    if digits == 0 { digits = 1 }  // it wrapped to zero, which would mean that there are no digits
  }

  private mutating func flushZeros() {
    for _ in 0..<min(zeros, 20) {
      let (shifted, overflow) = digits.multipliedReportingOverflow(by: 10)
      digits = overflow ? 1 : shifted
      isLong = isLong || overflow
    }
    zeros = 0
  }

  /// Adds the exponent that was written, or 0, and that of the trailing zeros.
  mutating func finish(exponent written: Int) { exponent += written + zeros }

  /// Whether it has no fraction.
  var isWhole: Bool { digits == 0 || exponent >= 0 }

  /// The number as an integer, if it is one and fits the type.
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

  /// The number as a `Double`, if a single operation on exact values computes it.
  var simpleDouble: Double? {
    guard !isLong, digits <= 1 << 53, -22...22 ~= exponent else { return nil }
    let power = JSONNumber.powersOfTen[abs(exponent)]
    let magnitude = exponent < 0 ? Double(digits) / power : Double(digits) * power
    return isNegative ? -magnitude : magnitude
  }

  /// The number as a `Float`, if a single operation on exact values computes it.
  var simpleFloat: Float? {
    guard !isLong, digits <= 1 << 24, -10...10 ~= exponent else { return nil }
    let power = Float(JSONNumber.powersOfTen[abs(exponent)])
    let magnitude = exponent < 0 ? Float(digits) / power : Float(digits) * power
    return isNegative ? -magnitude : magnitude
  }

  /// The powers of ten that a `Double` represents exactly; a `Float` does so with the first eleven.
  private static let powersOfTen: [Double] = [
    1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11,
    1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
  ]
}
