/// Adds colors to text, if enabled.
struct Painter: Sendable {
  let hasColor: Bool

  init(_ terminal: Terminal) { hasColor = terminal.hasColor }

  /// Without colors.
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
