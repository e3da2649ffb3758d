extension JSONReader {
  /// An object or array that was entered.
  struct OpenBracket {
    /// The byte that closes it.
    let closing: UInt8
    /// The offset of its start.
    let start: Int
  }

  /// Skips a value of any kind, which must be well-formed.
  ///
  /// Not recursive, because the input controls the depth, up to the limit.
  mutating func skipValue() throws(DecodeError) {
    var open: [OpenBracket] = []
    repeat { try skipStep(&open) { _, _ in } } while !open.isEmpty
  }

  /// Skips a value, or its opening bracket, up to the start of the next value. Calls `note` with the start of each
  /// object that has a member `@type`, and with its value if that is a string.
  mutating func skipStep(
    _ open: inout [OpenBracket],
    noting note: (Int, StringToken) -> Void
  ) throws(DecodeError) {
    switch peek() {
    case UInt8(ascii: "{"): try skipOpening(UInt8(ascii: "{"), UInt8(ascii: "}"), &open, note)
    case UInt8(ascii: "["): try skipOpening(UInt8(ascii: "["), UInt8(ascii: "]"), &open, note)
    default:
      try skipScalar()
      try skipEndings(&open, note)
    }
  }

  private mutating func skipOpening(
    _ opening: UInt8,
    _ closing: UInt8,
    _ open: inout [OpenBracket],
    _ note: (Int, StringToken) -> Void
  ) throws(DecodeError) {
    open.append(OpenBracket(closing: closing, start: position))
    try enter(opening)
    var isFirst = true
    if try hasNext(closing, isFirst: &isFirst) {
      try skipName(in: open, note)
    } else {
      open.removeLast()
      try skipEndings(&open, note)
    }
  }

  /// After a value: skips the closing brackets and the separator up to the start of the next value.
  private mutating func skipEndings(
    _ open: inout [OpenBracket],
    _ note: (Int, StringToken) -> Void
  ) throws(DecodeError) {
    while let bracket = open.last {
      var isFirst = false
      if try hasNext(bracket.closing, isFirst: &isFirst) { return try skipName(in: open, note) }
      open.removeLast()
    }
  }

  /// Skips the name of a member; in an array, nothing.
  private mutating func skipName(
    in open: [OpenBracket],
    _ note: (Int, StringToken) -> Void
  ) throws(DecodeError) {
    guard let bracket = open.last, bracket.closing == UInt8(ascii: "}") else { return }
    guard try takesTypeName(), peek() == UInt8(ascii: "\"") else { return }
    var ahead = self
    note(bracket.start, try ahead.stringToken())
  }

  private mutating func skipString() throws(DecodeError) {
    let token = try stringToken()
    if token.hasEscapes { _ = try unescaped(token) }
  }

  private mutating func skipScalar() throws(DecodeError) {
    switch peek() {
    case UInt8(ascii: "\""): try skipString()
    case UInt8(ascii: "t"), UInt8(ascii: "f"): _ = try bool()
    case UInt8(ascii: "n"): try expect("null")
    case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): _ = try numberToken()
    default: throw unexpected("a value")
    }
  }
}
