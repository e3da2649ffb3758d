/// The form in which generated code carries names: one literal, read when a name is first asked for, since a
/// table of literals would cost every build its time and every program its size.
enum CompactNames {
  /// The numbers with what stands behind each of them.
  static func entries(of compact: StaticString) -> [(number: Int32, parts: [String])] {
    compact.description.utf8.split(separator: UInt8(ascii: " ")).compactMap { entry in
      let parts = entry.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
      guard let first = parts.first, let number = Int32(String(Substring(first))) else { return nil }
      return (number, parts.dropFirst().map { String(Substring($0)) })
    }
  }

  /// Text whose special bytes stand as `%` and two hexadecimal digits.
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
