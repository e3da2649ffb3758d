/// JSON text under construction.
public struct JSONWriter {
  var bytes: [UInt8] = []
  let options: JSONEncodingOptions

  init(options: JSONEncodingOptions) { self.options = options }

  mutating func byte(_ byte: UInt8) { bytes.append(byte) }

  /// Appends text that needs neither quotes nor escapes.
  mutating func verbatim(_ text: String) { bytes += text.utf8 }

  mutating func bool(_ value: Bool) { verbatim(value ? "true" : "false") }

  /// Appends an integer, in quotes if `isQuoted`.
  mutating func integer<I: FixedWidthInteger>(_ value: I, isQuoted: Bool = false) {
    if isQuoted { byte(UInt8(ascii: "\"")) }
    if value < 0 { byte(UInt8(ascii: "-")) }
    digits(UInt64(value.magnitude))
    if isQuoted { byte(UInt8(ascii: "\"")) }
  }

  private mutating func digits(_ value: UInt64) {
    let start = bytes.count
    var rest = value
    repeat {
      let (quotient, digit) = rest.quotientAndRemainder(dividingBy: 10)
      bytes.append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: digit))
      rest = quotient
    } while rest > 0
    bytes[start...].reverse()
  }

  /// Appends the shortest text that reads back as the same value.
  mutating func double(_ value: Double) { floatingPoint(value.isFinite, "\(value)") }

  /// Appends the shortest text that reads back as the same `Float`.
  mutating func float(_ value: Float) { floatingPoint(value.isFinite, "\(value)") }

  private mutating func floatingPoint(_ isFinite: Bool, _ text: String) {
    if isFinite {
      // Swift writes 1.0; other runtimes write 1.
      let utf8 = text.utf8
      bytes += utf8.dropLast(utf8.suffix(2).elementsEqual(".0".utf8) ? 2 : 0)
    } else {
      verbatim(text == "inf" ? "\"Infinity\"" : text == "-inf" ? "\"-Infinity\"" : "\"NaN\"")
    }
  }

  /// Appends a string in quotes.
  mutating func string(_ text: String) {
    byte(UInt8(ascii: "\""))
    if JSONWriter.needsEscapes(text) {
      for unit in text.utf8 { escaped(unit) }
    } else {
      bytes += text.utf8
    }
    byte(UInt8(ascii: "\""))
  }

  @inline(__always)
  private static func needsEscape(_ unit: UInt8) -> Bool {
    unit < 0x20 || unit == UInt8(ascii: "\"") || unit == UInt8(ascii: "\\")
  }

  private static func needsEscapes(_ text: String) -> Bool {
    let units = text.utf8Span.span
    for index in units.indices where needsEscape(units[index]) { return true }
    return false
  }

  private mutating func escaped(_ unit: UInt8) {
    guard JSONWriter.needsEscape(unit) else { return byte(unit) }
    byte(UInt8(ascii: "\\"))
    switch unit {
    case 0x08: byte(UInt8(ascii: "b"))
    case 0x09: byte(UInt8(ascii: "t"))
    case 0x0A: byte(UInt8(ascii: "n"))
    case 0x0C: byte(UInt8(ascii: "f"))
    case 0x0D: byte(UInt8(ascii: "r"))
    case UInt8(ascii: "\""), UInt8(ascii: "\\"): byte(unit)
    default:
      verbatim(unit < 0x10 ? "u000" : "u00")
      verbatim(String(unit, radix: 16))
    }
  }

  /// Appends bytes in Base64, in quotes.
  mutating func base64(_ value: [UInt8]) {
    byte(UInt8(ascii: "\""))
    Base64.encode(value, into: &bytes)
    byte(UInt8(ascii: "\""))
  }
}
