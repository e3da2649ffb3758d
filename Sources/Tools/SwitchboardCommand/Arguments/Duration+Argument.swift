extension Duration {
  /// The most that a user can wait, far below the limit of a `Duration`.
  static let hundredYears = Duration.seconds(3_155_760_000)
  static let day = Duration.seconds(86_400)

  /// What the help says about every `TIME`.
  static let argumentHelp =
    "TIME is a number, which may have a fraction, and one unit: us, ms, s, m or h. Without a unit it is in seconds."

  /// Reads a time as users write it: see ``argumentHelp``. It may be negative, or longer than any that can be waited.
  static func seconds(argument text: String) -> Double? {
    let units: [(suffix: String, seconds: Double)] = [
      ("us", 1e-6), ("ms", 1e-3), ("s", 1), ("m", 60), ("h", 3600), ("", 1),
    ]
    guard let unit = units.first(where: { text.hasSuffix($0.suffix) }) else { return nil }
    let isNegative = text.utf8.first == UInt8(ascii: "-")
    let digits = text.dropFirst(isNegative ? 1 : 0).dropLast(unit.suffix.count)
    // The standard library also accepts "nan", "0x1p3" and "1e3", which are mistakes here.
    guard !digits.isEmpty, digits.allSatisfy({ $0.isASCII && $0.isNumber || $0 == "." }),
      let number = Double(digits), number.isFinite
    else { return nil }
    return (isNegative ? -number : number) * unit.seconds
  }

  /// The duration for display: `1.25 ms`, `3.4 s`.
  var shown: String {
    let seconds = Double(components.seconds) + Double(components.attoseconds) * 1e-18
    return switch abs(seconds) {
    case ..<1e-3: "\(seconds * 1e6, digits: 1) us"
    case ..<1: "\(seconds * 1e3, digits: 2) ms"
    default: "\(seconds, digits: 2) s"
    }
  }
}

extension DefaultStringInterpolation {
  /// Appends a number with this many digits after the point.
  mutating func appendInterpolation(_ number: Double, digits: Int) {
    guard number.isFinite, abs(number) < 1e15 else { return appendLiteral(number.description) }
    var scale = 1.0
    for _ in 0..<digits { scale *= 10 }
    let scaled = (abs(number) * scale).rounded()
    guard scaled < 9e18 else { return appendLiteral(number.description) }
    let whole = UInt64(scaled)
    let (left, right) = whole.quotientAndRemainder(dividingBy: UInt64(scale))
    let fraction = String(right)
    if number < 0, whole > 0 { appendLiteral("-") }
    appendLiteral(String(left))
    if digits > 0 {
      appendLiteral("." + String(repeating: "0", count: digits - fraction.count) + fraction)
    }
  }
}
