extension JSONReader {
  /// Reads a number without quotes.
  mutating func numberToken() throws(DecodeError) -> JSONNumber {
    guard peek() == UInt8(ascii: "-") || isDigit(here) else { throw unexpected("a number") }
    let start = position
    var number = JSONNumber()
    if here == UInt8(ascii: "-") {
      number.isNegative = true
      position += 1
    }
    if here == UInt8(ascii: "0") {
      position += 1
      guard !isDigit(here) else { throw fail("number with a leading zero", at: start) }
    } else {
      try digits { number.append($0, isFraction: false) }
    }
    if here == UInt8(ascii: ".") {
      position += 1
      try digits { number.append($0, isFraction: true) }
    }
    number.finish(exponent: here | 0x20 == UInt8(ascii: "e") ? try exponent() : 0)
    number.range = start..<position
    return number
  }

  private func isDigit(_ byte: UInt8) -> Bool { byte &- UInt8(ascii: "0") < 10 }

  /// Reads one or more digits.
  @inline(__always)
  private mutating func digits(_ body: (UInt8) -> Void) throws(DecodeError) {
    let start = position
    while position < bytes.count {
      let digit = bytes[position] &- UInt8(ascii: "0")
      guard digit < 10 else { break }
      body(digit)
      position &+= 1
    }
    guard position > start else { throw unexpected("a digit") }
  }

  private mutating func exponent() throws(DecodeError) -> Int {
    position += 1
    let isNegative = here == UInt8(ascii: "-")
    if isNegative || here == UInt8(ascii: "+") { position += 1 }
    var value = 0
    // A value this large is out of range for every type, so the exact exponent no longer matters.
    try digits { value = min(value * 10 + Int($0), 1 << 40) }
    return isNegative ? -value : value
  }

  /// Reads a number with or without quotes. The quotes contain nothing else.
  private mutating func number<Value>(
    quotes: Quotes,
    mustBeWhole: Bool = false,
    _ convert: (JSONNumber, JSONReader) -> Value?
  ) throws(DecodeError) -> Value {
    let isQuoted = peek() == UInt8(ascii: "\"")
    let start = position
    guard isQuoted ? quotes != .forbidden : quotes != .required else { throw unexpected(quotes.wanted) }
    if isQuoted, let (number, reader) = try escapedNumber() {
      guard let value = convert(number, reader) else { throw misfit(number, mustBeWhole, at: start) }
      return value
    }
    let number = isQuoted ? try quotedNumber() : try numberToken()
    guard let value = convert(number, self) else { throw misfit(number, mustBeWhole, at: start) }
    return value
  }

  /// The error for a number that the field cannot have.
  private func misfit(_ number: JSONNumber, _ mustBeWhole: Bool, at start: Int) -> DecodeError {
    let reason =
      mustBeWhole && !number.isWhole
      ? "not a whole number, and the field has only those" : "number out of range"
    return fail(reason, at: start)
  }

  private mutating func quotedNumber() throws(DecodeError) -> JSONNumber {
    position += 1
    guard here > 0x20 else { throw unexpected("a number") }
    let number = try numberToken()
    guard here == UInt8(ascii: "\"") else { throw unexpected("the end of the number") }
    position += 1
    return number
  }

  /// Reads a quoted number that is spelled with escapes; returns it with the reader that parsed it. Nil if there are no
  /// escapes.
  private mutating func escapedNumber() throws(DecodeError) -> (JSONNumber, JSONReader)? {
    let start = position
    let token = try stringToken()
    guard token.hasEscapes else {
      position = start
      return nil
    }
    let quoted = [UInt8(ascii: "\"")] + (try unescaped(token)) + [UInt8(ascii: "\"")]
    var inner = try JSONReader(quoted, nesting: 0, ignoresUnknown: false)
    guard let number = try? inner.quotedNumber(), inner.position == quoted.count else {
      throw fail("expected a number in quotes", at: start)
    }
    return (number, inner)
  }

  /// Whether a number is in quotes.
  enum Quotes {
    case allowed, required, forbidden

    var wanted: String { self == .required ? "a string" : "a number" }
  }

  /// Reads an integer that fits `I`, in any spelling without a fraction: `100000`, `1e5`, `"100000.0"`.
  mutating func integer<I: FixedWidthInteger>(
    _ type: I.Type = I.self,
    quotes: Quotes = .allowed
  ) throws(DecodeError) -> I {
    try number(quotes: quotes, mustBeWhole: true) { number, _ in number.integer(type) }
  }

  /// Reads a number or, in quotes, the name of a value that JSON numbers cannot represent.
  mutating func double() throws(DecodeError) -> Double {
    if let special = try nonFinite() { return special }
    return try number(quotes: .allowed) { number, reader in
      let value = number.simpleDouble ?? Double(reader.spelling(of: number))
      return value.flatMap { $0.isFinite ? $0 : nil }
    }
  }

  /// Like ``double()``, but rounded only once: a value that exceeds the largest `Float` by less than half a unit still
  /// fits.
  mutating func float() throws(DecodeError) -> Float {
    if let special = try nonFinite() { return Float(special) }
    return try number(quotes: .allowed) { number, reader in
      let value = number.simpleFloat ?? Float(reader.spelling(of: number))
      return value.flatMap { $0.isFinite ? $0 : nil }
    }
  }

  private func spelling(of number: JSONNumber) -> String {
    String(decoding: bytes[number.range], as: UTF8.self)
  }

  private mutating func nonFinite() throws(DecodeError) -> Double? {
    guard peek() == UInt8(ascii: "\"") else { return nil }
    let start = position
    let text = try contents(of: stringToken())
    if text.elementsEqual("NaN".utf8) { return .nan }
    if text.elementsEqual("Infinity".utf8) { return .infinity }
    if text.elementsEqual("-Infinity".utf8) { return -.infinity }
    position = start
    return nil
  }
}
