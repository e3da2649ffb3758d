/// Finds where a JSON value ends, byte by byte. It does not check the value.
///
/// An object ends with a brace and an array with a square bracket, even where brackets within them do not match.
package struct JSONValueScanner {
  @usableFromInline let opening: UInt8
  @usableFromInline var depth = 0
  @usableFromInline var isInString = false
  @usableFromInline var isEscaped = false

  /// Begins a value with its first byte.
  @inlinable
  package init(first byte: UInt8) {
    opening = byte
    switch byte {
    case UInt8(ascii: "{"), UInt8(ascii: "["): depth = 1
    case UInt8(ascii: "\""): isInString = true
    default: break
    }
  }

  /// Whether the value is a number or a word. Such a value has no last byte of its own: the caller decides which bytes
  /// cannot belong to it.
  @inlinable
  package var isBare: Bool { depth == 0 && !isInString }

  /// Takes the next byte of an object, an array or a string, and returns whether it is the last one.
  @inlinable
  package mutating func isLast(_ byte: UInt8) -> Bool {
    if isInString {
      if isEscaped {
        isEscaped = false
      } else if byte == UInt8(ascii: "\\") {
        isEscaped = true
      } else if byte == UInt8(ascii: "\"") {
        isInString = false
        return depth == 0
      }
      return false
    }
    switch byte {
    case UInt8(ascii: "\""): isInString = true
    case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
    case UInt8(ascii: "}"), UInt8(ascii: "]"):
      // In ASCII, the closing bracket comes two after the opening one.
      if depth == 1 { return byte == opening &+ 2 }
      depth -= 1
    default: break
    }
    return false
  }
}
