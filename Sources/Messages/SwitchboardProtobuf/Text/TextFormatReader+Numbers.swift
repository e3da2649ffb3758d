extension TextFormatReader {
  /// A number as written.
  private struct Number {
    enum Form {
      case decimal, octal, hexadecimal, float
    }

    let form: Form
    /// The digits, without the prefix or suffix that indicates the form.
    let digits: String
  }

  // MARK: Values

  /// Reads an integer in any base; it must fit the type.
  mutating func integer<Value: FixedWidthInteger>(as type: Value.Type) throws(DecodeError) -> Value {
    let start = position
    let isNegative = Value.isSigned && take("-")
    guard let number = try number(), number.form != .float else {
      throw error("expected an integer", at: start)
    }
    let radix = number.form == .hexadecimal ? 16 : number.form == .octal ? 8 : 10
    let magnitude = UInt64(number.digits, radix: radix)
    guard let value = magnitude.flatMap({ TextFormatReader.value(of: $0, isNegative, as: type) }) else {
      throw error("the integer is out of range", at: start)
    }
    return value
  }

  private static func value<Value: FixedWidthInteger>(
    of magnitude: UInt64,
    _ isNegative: Bool,
    as type: Value.Type
  ) -> Value? {
    guard isNegative else { return Value(exactly: magnitude) }
    guard magnitude <= UInt64(1) << 63 else { return nil }
    return Value(exactly: Int64(truncatingIfNeeded: 0 &- magnitude))
  }

  /// Reads a Boolean: a word or a number.
  mutating func bool() throws(DecodeError) -> Bool {
    let start = position
    switch identifier() {
    case "true", "True", "t": return true
    case "false", "False", "f": return false
    case nil:
      let number = try integer(as: UInt64.self)
      guard number <= 1 else { throw error("expected 0 or 1", at: start) }
      return number == 1
    case let word?: throw error("expected 'true' or 'false', found '\(word)'", at: start)
    }
  }

  /// Reads a floating-point number; one that is too large becomes infinite.
  mutating func double() throws(DecodeError) -> Double {
    let start = position
    let isNegative = take("-")
    guard let magnitude = try magnitude() else { throw error("expected a number", at: start) }
    return isNegative ? -magnitude : magnitude
  }

  private mutating func magnitude() throws(DecodeError) -> Double? {
    if let number = try number() {
      return number.form == .decimal || number.form == .float ? Double(number.digits) : nil
    }
    switch identifier()?.lowercased() {
    case "inf", "infinity": return .infinity
    case "nan": return .nan
    default: return nil
    }
  }

  /// Skips a value that is not a string: a number or a word.
  mutating func skipPlainValue() throws(DecodeError) {
    let start = position
    let isNegative = take("-")
    if try number() != nil { return }
    guard let word = identifier() else { throw unexpected("a value") }
    guard !isNegative || ["inf", "infinity", "nan"].contains(word.lowercased()) else {
      throw error("expected a number", at: start)
    }
  }

  // MARK: Spelling

  private mutating func number() throws(DecodeError) -> Number? {
    let start = position
    let first = byte(at: start)
    let second = byte(at: start + 1)
    guard first.map(TextFormatReader.isDigit) == true || first == UInt8(ascii: ".") else { return nil }

    if first == UInt8(ascii: "0"), second == UInt8(ascii: "x") || second == UInt8(ascii: "X") {
      let end = skip(from: start + 2) { TextFormatReader.hexValue($0) != nil }
      return try finish(.hexadecimal, start + 2..<end, end: end)
    }
    if first == UInt8(ascii: "0"), second.map(TextFormatReader.isDigit) == true {
      let end = skip(from: start + 1) { $0 >= UInt8(ascii: "0") && $0 <= UInt8(ascii: "7") }
      return try finish(.octal, start + 1..<end, end: end)
    }
    return try decimal(from: start)
  }

  private mutating func decimal(from start: Int) throws(DecodeError) -> Number {
    let digits = skip(from: start, while: TextFormatReader.isDigit)
    var end = digits
    if byte(at: end) == UInt8(ascii: ".") {
      end = skip(from: end + 1, while: TextFormatReader.isDigit)
      // A dot alone is not a number.
      guard end - start > 1 else { throw unexpected("a value") }
    }
    if let exponent = byte(at: end), exponent | 0x20 == UInt8(ascii: "e") {
      let isSigned = byte(at: end + 1).map { $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: "+") } == true
      let power = end + (isSigned ? 2 : 1)
      end = skip(from: power, while: TextFormatReader.isDigit)
      guard end > power else { throw error("the exponent has no digits", at: start) }
    }
    let hasSuffix = byte(at: end).map { $0 | 0x20 == UInt8(ascii: "f") } == true
    let form = end > digits || hasSuffix ? Number.Form.float : .decimal
    return try finish(form, start..<end, end: hasSuffix ? end + 1 : end)
  }

  /// Ends a number, which must not be followed directly by a letter, a digit or a dot.
  private mutating func finish(
    _ form: Number.Form,
    _ digits: Range<Int>,
    end: Int
  ) throws(DecodeError) -> Number {
    let isGlued = byte(at: end).map {
      TextFormatReader.isLetter($0) || TextFormatReader.isDigit($0) || $0 == UInt8(ascii: ".")
    }
    guard !digits.isEmpty, isGlued != true else { throw error("malformed number", at: position) }
    let number = Number(form: form, digits: text(digits))
    advance(to: end)
    return number
  }

  private func skip(from start: Int, while isPart: (UInt8) -> Bool) -> Int {
    guard start < input.count else { return start }
    return input[start...].firstIndex { !isPart($0) } ?? input.count
  }
}
