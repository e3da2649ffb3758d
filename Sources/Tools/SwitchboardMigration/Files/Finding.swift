/// Something in a file that is different with Switchboard.
package struct Finding: Sendable, Hashable {
  /// The line, from 1.
  package let line: Int
  /// What is there, on one line and cut.
  package let found: String
  /// What takes its place, cut too; nil if a person has to decide.
  package let replacement: String?
  /// What to write, or why.
  package let advice: String

  let offset: Int
  let edit: Edit?

  /// What a message says, apart from the line.
  var words: [UInt8] { Array(found.utf8) + Array(advice.utf8) }

  /// How much of the code a message shows.
  private static let width = 80

  init(_ range: Range<Int>, in source: SwiftSource, _ edit: Edit?, _ advice: String) {
    offset = range.lowerBound
    line = source.line(of: range.lowerBound)
    found = Self.shown(source.bytes[range])
    replacement = edit.map { Self.shown(Self.text($0, in: source)[...]) }
    self.edit = edit
    self.advice = advice
  }

  /// What an edit writes.
  private static func text(_ edit: Edit, in source: SwiftSource) -> [UInt8] {
    edit.pieces.flatMap { piece in
      switch piece {
      case .text(let text): Array(text.utf8)
      case .kept(let range): Array(source.bytes[range])
      }
    }
  }

  private static func shown(_ bytes: ArraySlice<UInt8>) -> String {
    let cut = bytes.prefix(4 * width)
    let words = cut.split(whereSeparator: { $0 <= 0x20 }).map { String(decoding: $0, as: UTF8.self) }
    let line = words.joined(separator: " ").unicodeScalars
    guard cut.count < bytes.count || line.count > width else { return String(line) }
    return String(String.UnicodeScalarView(line.prefix(width))) + "…"
  }
}
