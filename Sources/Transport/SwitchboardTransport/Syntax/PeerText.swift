/// Text that a peer has chosen, for people: messages of statuses, and reasons for the end of a connection.
enum PeerText {
  /// The text without control characters, which a terminal would obey. Each is replaced, like bytes that are not UTF-8;
  /// only tabs and line breaks stay.
  static func harmless(_ text: String) -> String {
    // Most text has no byte that could begin one.
    guard text.utf8.contains(where: { $0 < 0x20 || $0 == 0x7f || $0 == 0xc2 }) else { return text }
    var harmless = String.UnicodeScalarView()
    var rest = text.unicodeScalars[...]
    while let scalar = rest.popFirst() {
      harmless.append(isAllowed(scalar, before: rest.first) ? scalar : "\u{fffd}")
    }
    return String(harmless)
  }

  /// A carriage return alone would let the rest of a line overwrite its beginning.
  private static func isAllowed(_ scalar: Unicode.Scalar, before next: Unicode.Scalar?) -> Bool {
    switch scalar.value {
    case 0x09, 0x0a: true
    case 0x0d: next?.value == 0x0a
    case 0..<0x20, 0x7f..<0xa0: false
    default: true
    }
  }

  /// The text of bytes.
  static func harmless(_ bytes: some Collection<UInt8>) -> String {
    harmless(String(decoding: bytes, as: UTF8.self))
  }
}
