/// A position in a text, as editors show it: both counted from 1, and columns in characters of Unicode, not in bytes.
package struct TextPosition: Hashable, Sendable {
  package let line: Int
  package let column: Int
  /// Of the byte in the text.
  package let offset: Int

  /// The position of the first byte.
  package static let start = TextPosition(line: 1, column: 1, offset: 0)

  private init(line: Int, column: Int, offset: Int) {
    self.line = line
    self.column = column
    self.offset = offset
  }

  /// The position of a byte. One beyond the end is at the end.
  package init(of offset: Int, in bytes: [UInt8]) { self = Self.start.moved(to: offset, in: bytes) }

  /// The position of a later byte of the text. Only what is between them is read.
  package func moved(to later: Int, in bytes: [UInt8]) -> TextPosition {
    let between = bytes[min(offset, bytes.count)..<min(max(offset, later), bytes.count)]
    let newline = UInt8(ascii: "\n")
    let start = between.lastIndex(of: newline).map { $0 + 1 }
    let rest = between[(start ?? between.startIndex)...]
    return TextPosition(
      line: line + between.count { $0 == newline },
      column: (start == nil ? column : 1) + String(decoding: rest, as: UTF8.self).unicodeScalars.count,
      offset: between.endIndex
    )
  }
}
