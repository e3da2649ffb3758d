import Switchboard
import SwitchboardText

/// The line of a text with a position in it, and below it a mark at the position.
struct MarkedLine {
  let text: ShownText

  /// How much of a long line is shown, and how much of that at most before the position.
  private static let width = 100
  private static let widthBefore = 60

  init(_ position: TextPosition, in bytes: [UInt8]) {
    let lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
    let line = lines.dropFirst(position.line - 1).first ?? []
    // One column each, whatever a terminal would make of them.
    let characters = String(decoding: line, as: UTF8.self).unicodeScalars.map { $0.isControlling ? " " : $0 }
    let start = max(0, position.column - 1 - Self.widthBefore)
    let shown = String(String.UnicodeScalarView(characters.dropFirst(start).prefix(Self.width)))
    text = "\(shown)\n\(String(repeating: " ", count: position.column - 1 - start))^"
  }
}
