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

  func callAsFunction(_ style: Style, _ text: some StringProtocol) -> String {
    hasColor && !text.isEmpty ? "\u{1B}[\(style.rawValue)m\(text)\u{1B}[0m" : String(text)
  }
}

extension String {
  /// The text with control characters in visible form. Servers choose names and messages, and must not be able to
  /// control the user's terminal.
  var harmless: String {
    guard unicodeScalars.contains(where: \.isControl) else { return self }
    var shown = String.UnicodeScalarView()
    for scalar in unicodeScalars {
      if scalar == "\n" || scalar == "\t" || !scalar.isControl {
        shown.append(scalar)
      } else {
        shown.append(contentsOf: "\\u{\(String(scalar.value, radix: 16))}".unicodeScalars)
      }
    }
    return String(shown)
  }
}

extension String {
  /// The same on one line, for output with one name per line, so that a name cannot pretend to be two.
  var harmlessLine: String {
    guard contains(where: \.isNewline) || contains("\t") else { return harmless }
    let shown = unicodeScalars.map { scalar in
      scalar.isControl || scalar.properties.generalCategory == .lineSeparator
        || scalar.properties.generalCategory == .paragraphSeparator
        ? "\\u{\(String(scalar.value, radix: 16))}" : String(scalar)
    }
    return shown.joined()
  }
}

extension Unicode.Scalar {
  fileprivate var isControl: Bool { value < 0x20 || (0x7F...0x9F).contains(value) }
}
