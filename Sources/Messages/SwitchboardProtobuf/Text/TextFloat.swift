// text: the digits of a number that is written

/// Floating-point numbers in libprotobuf's form: the digits that are necessary, in the layout of C's `%g`.
enum TextFloat {
  /// The shortest text that reads back as `value`. `precision` is the number of digits that the type always preserves,
  /// `maximum` the number that distinguishes all its values.
  static func text<F: BinaryFloatingPoint & CustomStringConvertible>(
    _ value: F,
    precision: Int,
    maximum: Int
  ) -> String {
    if value.isNaN { return "nan" }
    let sign = value.sign == .minus ? "-" : ""
    if value.isInfinite { return sign + "inf" }
    if value.isZero { return sign + "0" }

    let (digits, exponent) = decimal(value.magnitude.description)
    let threshold = digits.count > precision ? maximum : precision
    let isScientific = exponent < -4 || exponent >= threshold
    return sign + (isScientific ? scientific(digits, exponent) : plain(digits, exponent))
  }

  /// The digits of a number in any notation, without leading and trailing zeros, and the exponent of the first digit.
  private static func decimal(_ text: String) -> (digits: [Character], exponent: Int) {
    let parts = text.split(separator: "e")
    let mantissa = (parts.first ?? "").split(separator: ".", omittingEmptySubsequences: false)
    let whole = mantissa.first ?? ""
    let all = Array(mantissa.joined())
    var exponent = (parts.count > 1 ? Int(parts[1]) ?? 0 : 0) + whole.count - 1
    exponent -= all.prefix { $0 == "0" }.count
    let digits = all.drop { $0 == "0" }
    let trailing = digits.reversed().prefix { $0 == "0" }.count
    return (Array(digits.dropLast(trailing)), exponent)
  }

  private static func scientific(_ digits: [Character], _ exponent: Int) -> String {
    let fraction = digits.count > 1 ? "." + String(digits.dropFirst()) : ""
    let power = String(exponent.magnitude)
    let padded = power.count < 2 ? "0" + power : power
    return String(digits.prefix(1)) + fraction + (exponent < 0 ? "e-" : "e+") + padded
  }

  private static func plain(_ digits: [Character], _ exponent: Int) -> String {
    if exponent < 0 { return "0." + String(repeating: "0", count: -exponent - 1) + String(digits) }
    let whole = digits.prefix(exponent + 1)
    let zeros = String(repeating: "0", count: exponent + 1 - whole.count)
    let fraction = digits.dropFirst(exponent + 1)
    return String(whole) + zeros + (fraction.isEmpty ? "" : "." + String(fraction))
  }
}
