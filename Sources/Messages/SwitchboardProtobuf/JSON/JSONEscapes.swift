/// The bytes that JSON text cannot have in a string without an escape: those below a space, the quote and the backslash.
enum JSONEscapes {
  /// Marks such bytes among eight by their highest bits. The lowest mark is right; bytes above it may have marks without a
  /// reason.
  @inline(__always)
  static func marks(in word: UInt64) -> UInt64 {
    let (ones, high): (UInt64, UInt64) = (0x0101_0101_0101_0101, 0x8080_8080_8080_8080)
    let quote = word ^ 0x2222_2222_2222_2222
    let backslash = word ^ 0x5C5C_5C5C_5C5C_5C5C
    let found = (word &- ones &* 0x20) & ~word | (quote &- ones) & ~quote | (backslash &- ones) & ~backslash
    return found & high
  }
}
