import Switchboard
import SwitchboardText

/// Text that may be written to a terminal: ``Output`` takes nothing else.
///
/// The literals of the command itself are taken as they are. Every other text, whether it comes by an initializer or an
/// interpolation, comes from a server, a file or the user, and gets its controlling characters escaped, line feeds
/// included: it can neither send the terminal escape sequences, nor reorder what stands beside it, nor begin a line of its
/// own.
///
///     let line: ShownText = "\(paint(.name, service.fullName)) on \(target.text)"
struct ShownText: Sendable, Hashable {
  private(set) var text: String

  private init(unescaped text: String) { self.text = text }

  init() { text = "" }

  /// Text from outside, on one line.
  init(_ text: some StringProtocol, as notation: ControlNotation = .plain) {
    self.text = notation.escaping(String(text))
  }

  /// Text from outside that has several lines by its nature, such as a message in the text format.
  init(lines text: String, as notation: ControlNotation = .plain) {
    let lines = text.unicodeScalars.split(separator: "\n", omittingEmptySubsequences: false)
    self.text = lines.map { notation.escaping(String($0)) }.joined(separator: "\n")
  }

  /// Lines of a report, whose maker adds colors. All other control sequences are escaped.
  init(coloredLines text: String, as notation: ControlNotation = .plain) {
    var rest = text[...]
    var shown = ShownText()
    while let code = rest.firstMatch(of: /\u{1B}\[[0-9]+m/) {
      shown += ShownText(lines: String(rest[..<code.range.lowerBound]), as: notation)
      shown.text += rest[code.range]
      rest = rest[code.range.upperBound...]
    }
    self = shown + ShownText(lines: String(rest), as: notation)
  }

  var isEmpty: Bool { text.isEmpty }

  /// This text between the terminal's codes for a style.
  func styled(_ style: Style) -> ShownText {
    ShownText(unescaped: "\u{1B}[\(style.rawValue)m\(text)\u{1B}[0m")
  }

  static func + (left: ShownText, right: ShownText) -> ShownText {
    ShownText(unescaped: left.text + right.text)
  }

  static func += (left: inout ShownText, right: ShownText) { left.text += right.text }
}

extension ShownText: ExpressibleByStringInterpolation {
  init(stringLiteral literal: String) { self.init(unescaped: literal) }

  init(stringInterpolation: StringInterpolation) { self = stringInterpolation.shown }

  struct StringInterpolation: StringInterpolationProtocol {
    fileprivate var shown = ShownText()

    init(literalCapacity: Int, interpolationCount: Int) { shown.text.reserveCapacity(literalCapacity) }

    mutating func appendLiteral(_ literal: String) { shown.text += literal }

    mutating func appendInterpolation(_ text: ShownText) { shown += text }

    mutating func appendInterpolation(_ value: some Any) { shown += ShownText("\(value)" as String) }

    /// Appends a number with this many digits after the point.
    mutating func appendInterpolation(_ number: Double, digits: Int) {
      shown += ShownText("\(number, digits: digits)" as String)
    }
  }
}

extension Sequence<ShownText> {
  func joined(separator: ShownText = "") -> ShownText {
    var (all, isFirst) = (ShownText(), true)
    for text in self {
      if !isFirst { all += separator }
      all += text
      isFirst = false
    }
    return all
  }
}

/// How characters that control a terminal are written instead.
enum ControlNotation: Sendable {
  /// As in Swift: `\u{1B}`.
  case plain
  /// As in a string of JSON, which stays valid: `\u001b`.
  case json
  /// As in a string of protobuf's text format or of a `.proto` file, which stay valid: `\u001b`.
  case proto

  /// The text without controlling characters. All text that the command did not write itself passes through here on its
  /// way to the terminal.
  func escaping(_ text: String) -> String {
    // Almost all text is printable ASCII.
    guard !text.utf8.allSatisfy({ (0x20..<0x7F).contains($0) }) else { return text }
    guard self != .plain else { return text.withControlsEscaped }
    guard text.unicodeScalars.contains(where: \.isControlling) else { return text }
    var escaped = String.UnicodeScalarView()
    for scalar in text.unicodeScalars {
      if scalar.isControlling {
        escaped.append(contentsOf: code(of: scalar).unicodeScalars)
      } else {
        escaped.append(scalar)
      }
    }
    return String(escaped)
  }

  private func code(of scalar: Unicode.Scalar) -> String {
    guard self == .json else {
      return scalar.value < 0x10000
        ? "\\u" + Self.digits(scalar.value, 4) : "\\U" + Self.digits(scalar.value, 8)
    }
    return UTF16.encode(scalar)?.map { "\\u" + Self.digits(UInt32($0), 4) }.joined() ?? ""
  }

  private static func digits(_ value: UInt32, _ count: Int) -> String {
    let digits = String(value, radix: 16)
    return String(repeating: "0", count: max(0, count - digits.utf8.count)) + digits
  }
}
