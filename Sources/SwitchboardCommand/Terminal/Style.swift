/// The kind of a piece of text, which determines its colour.
enum Style: String, Sendable {
  case heading = "1"
  case keyword = "35"
  case name = "1;34"
  case type = "36"
  case string = "32"
  case number = "33"
  case comment = "2"
  case good = "1;32"
  case warning = "1;33"
  case bad = "1;31"
}

/// Adds colours to text, if enabled.
struct Painter: Sendable {
  let hasColor: Bool

  init(_ terminal: Terminal) { hasColor = terminal.hasColor }

  /// Without colours.
  static let plain = Painter(hasColor: false)

  init(hasColor: Bool) { self.hasColor = hasColor }

  func callAsFunction(_ style: Style, _ text: ShownText) -> ShownText {
    hasColor && !text.isEmpty ? text.styled(style) : text
  }

  /// The same for text from outside, on one line.
  func callAsFunction(_ style: Style, _ text: some StringProtocol) -> ShownText {
    self(style, ShownText(text))
  }
}
