extension Unicode.Scalar {
  /// Whether the character ends a line, controls a terminal, or changes the direction of text.
  package var isControlling: Bool {
    switch properties.generalCategory {
    case .control, .format, .lineSeparator, .paragraphSeparator: true
    default: false
    }
  }
}

extension String {
  /// The text with controlling characters escaped, so that untrusted text fits on a line of a log or a terminal.
  package var withControlsEscaped: String {
    // Almost all text is printable ASCII, which needs no table.
    guard !utf8.allSatisfy({ (0x20..<0x7F).contains($0) }), unicodeScalars.contains(where: \.isControlling)
    else { return self }
    return unicodeScalars.map { $0.isControlling ? $0.escaped(asASCII: true) : String($0) }.joined()
  }
}
