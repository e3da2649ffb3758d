extension JSONReader {
  /// Passes over a value of any kind, which has to be well-formed.
  ///
  /// Not by recursion: the input decides how deep it is, up to the limit.
  mutating func skipValue() throws(DecodeError) {
    var open: [UInt8] = []
    repeat {
      // At the start of a value.
      switch peek() {
      case UInt8(ascii: "{"): try skipOpening(UInt8(ascii: "{"), UInt8(ascii: "}"), &open)
      case UInt8(ascii: "["): try skipOpening(UInt8(ascii: "["), UInt8(ascii: "]"), &open)
      default:
        try skipScalar()
        try skipEndings(&open)
      }
    } while !open.isEmpty
  }

  private mutating func skipOpening(
    _ opening: UInt8,
    _ closing: UInt8,
    _ open: inout [UInt8]
  ) throws(DecodeError) {
    try enter(opening)
    open.append(closing)
    var isFirst = true
    if try hasNext(closing, isFirst: &isFirst) {
      if closing == UInt8(ascii: "}") { try skipName() }
    } else {
      open.removeLast()
      try skipEndings(&open)
    }
  }

  /// Behind a value: passes over what ends there, up to the start of the next value.
  private mutating func skipEndings(_ open: inout [UInt8]) throws(DecodeError) {
    while let closing = open.last {
      var isFirst = false
      if try hasNext(closing, isFirst: &isFirst) {
        if closing == UInt8(ascii: "}") { try skipName() }
        return
      }
      open.removeLast()
    }
  }

  private mutating func skipName() throws(DecodeError) {
    try skipString()
    try expect(UInt8(ascii: ":"))
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
