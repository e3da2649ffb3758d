/// A position in a text, as editors show it: both counted from 1, and columns in characters of Unicode, not in bytes.
package struct TextPosition: Hashable, Sendable {
  package let line: Int
  package let column: Int
  /// Of the byte in the text.
  package let offset: Int

  /// The position of a byte. One beyond the end is at the end.
  package init(of offset: Int, in bytes: [UInt8]) {
    let before = bytes.prefix(offset)
    self.offset = before.count
    line = before.count { $0 == UInt8(ascii: "\n") } + 1
    let start = before.lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0
    column = String(decoding: before[start...], as: UTF8.self).unicodeScalars.count + 1
  }
}
