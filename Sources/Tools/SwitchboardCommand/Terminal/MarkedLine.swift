import Switchboard
import SwitchboardText

/// The line of a text with a position in it, and below it a mark at the position.
struct MarkedLine {
  let text: ShownText

  /// How much of a long line is shown, and how much of that at most before the position.
  private static let width = 100
  private static let widthBefore = 60
  /// The bytes of a character, at most.
  private static let mostBytes = 4

  init(_ position: TextPosition, in bytes: [UInt8]) {
    let newline = UInt8(ascii: "\n")
    // A line may be as long as the file, and have a hundred findings: only what can be shown of it is looked at.
    let before = bytes[..<position.offset].suffix(Self.widthBefore * Self.mostBytes)
    let after = bytes[position.offset...].prefix(Self.width * Self.mostBytes)
    let left = Self.characters(
      before.suffix(from: before.lastIndex(of: newline).map { $0 + 1 } ?? before.startIndex)
    )
    .suffix(min(Self.widthBefore, position.column - 1))
    let right = Self.characters(after.prefix { $0 != newline }).prefix(Self.width - left.count)
    let shown = String(String.UnicodeScalarView(left + right))
    text = "\(shown)\n\(String(repeating: " ", count: left.count))^"
  }

  /// One column each, whatever a terminal would make of them.
  private static func characters(_ bytes: ArraySlice<UInt8>) -> [Unicode.Scalar] {
    String(decoding: bytes, as: UTF8.self).unicodeScalars.map { $0.isControlling ? " " : $0 }
  }
}
