/// A cursor over JSON text in UTF-8.
///
/// The grammar is that of RFC 8259 without extensions: no comments, no trailing commas, no leading zeros, no control
/// characters in strings.
public struct JSONReader {
  let bytes: [UInt8]
  var position = 0

  /// How many more levels of objects and arrays may be entered.
  var nestingLeft: Int
  /// Whether to skip fields and enum values that the schema does not know.
  let ignoresUnknown: Bool
  /// The enum of the field that is read, if it was described at run time.
  var enumTable: EnumTable?

  /// A cursor at the start of `bytes`, which must be UTF-8.
  init(_ bytes: [UInt8], nesting: Int, ignoresUnknown: Bool) throws(DecodeError) {
    self.bytes = bytes
    nestingLeft = nesting
    self.ignoresUnknown = ignoresUnknown
    do {
      _ = try UTF8Span(validating: bytes.span)
    } catch {
      position = error.byteOffsets.lowerBound
      throw fail("invalid UTF-8")
    }
  }

  // MARK: Bytes

  /// The byte at the cursor, or 0 at the end.
  var here: UInt8 { position < bytes.count ? bytes[position] : 0 }

  /// Skips white space. Returns the byte after it, or 0 at the end.
  @inline(__always)
  mutating func peek() -> UInt8 {
    while position < bytes.count {
      let byte = bytes[position]
      switch byte {
      case 0x20, 0x09, 0x0A, 0x0D: position &+= 1
      default: return byte
      }
    }
    return 0
  }

  /// Skips `byte` if it comes next, possibly after white space.
  mutating func take(_ byte: UInt8) -> Bool {
    guard peek() == byte else { return false }
    position += 1
    return true
  }

  /// Skips `byte`; throws if it does not come next.
  mutating func expect(_ byte: UInt8) throws(DecodeError) {
    guard take(byte) else { throw unexpected("'\(Character(Unicode.Scalar(byte)))'") }
  }

  /// Skips a word such as `true`; throws if it does not come next.
  mutating func expect(_ word: StaticString) throws(DecodeError) {
    _ = peek()
    let end = position + word.utf8CodeUnitCount
    guard end <= bytes.count, bytes[position..<end].elementsEqual(word.description.utf8) else {
      throw unexpected(word.description)
    }
    position = end
  }

  /// Checks that only white space is left.
  mutating func finish() throws(DecodeError) {
    _ = peek()
    guard position == bytes.count else { throw unexpected("the end") }
  }

  /// Reads `true` or `false`.
  mutating func bool() throws(DecodeError) -> Bool {
    switch peek() {
    case UInt8(ascii: "t"):
      try expect("true")
      return true
    case UInt8(ascii: "f"):
      try expect("false")
      return false
    default: throw unexpected("true or false")
    }
  }

  // MARK: Objects and arrays

  /// Skips the bracket that opens an object or array.
  mutating func enter(_ bracket: UInt8) throws(DecodeError) {
    try expect(bracket)
    guard nestingLeft > 0 else { throw DecodeError(.nestedTooDeep) }
    nestingLeft -= 1
  }

  /// Moves to the next member or element. If there is none, skips the closing bracket and returns false.
  mutating func hasNext(_ bracket: UInt8, isFirst: inout Bool) throws(DecodeError) -> Bool {
    let byte = peek()
    if byte == bracket {
      position += 1
      nestingLeft += 1
      return false
    }
    if isFirst {
      isFirst = false
    } else {
      guard byte == UInt8(ascii: ",") else {
        throw unexpected("',' or '\(Character(Unicode.Scalar(bracket)))'")
      }
      position += 1
    }
    return true
  }
}
