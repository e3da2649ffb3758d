/// The form of names in generated code: one literal, parsed when a name is first needed. A table of literals would slow
/// down every build and enlarge every program.
enum CompactNames {
  /// The numbers, each with its parts. The text between a number and the first colon is left out.
  static func entries(of compact: StaticString) -> [(number: Int32, parts: [String])] {
    compact.description.utf8.split(separator: UInt8(ascii: " ")).compactMap { entry in
      let parts = entry.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
      guard let first = parts.first else { return nil }
      let digits = first.prefix { $0 == UInt8(ascii: "-") || UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }
      guard let number = Int32(String(Substring(digits))) else { return nil }
      return (number, parts.dropFirst().map { String(Substring($0)) })
    }
  }

  /// Decodes text whose special bytes are written as `%` and two hexadecimal digits.
  static func unescape(_ text: String) -> String {
    var bytes: [UInt8] = []
    var rest = Substring(text).utf8
    while let byte = rest.popFirst() {
      if byte == UInt8(ascii: "%"), let value = UInt8(String(Substring(rest.prefix(2))), radix: 16) {
        bytes.append(value)
        rest = rest.dropFirst(2)
      } else {
        bytes.append(byte)
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}
