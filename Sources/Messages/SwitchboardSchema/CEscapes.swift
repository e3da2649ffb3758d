/// The C escapes in the defaults of `bytes` fields, which descriptors hold as text.
package enum CEscapes {
  /// The bytes that a text stands for, or nil if it has an escape that does not exist.
  package static func decode(_ text: String) -> [UInt8]? {
    var result: [UInt8] = []
    var rest = text.utf8[...]
    while let byte = rest.popFirst() {
      guard byte == UInt8(ascii: "\\") else {
        result.append(byte)
        continue
      }
      guard let value = escaped(&rest) else { return nil }
      result.append(value)
    }
    return result
  }

  private static func escaped(_ rest: inout Substring.UTF8View) -> UInt8? {
    guard let kind = rest.first else { return nil }
    if (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(kind) {
      let digits = rest.prefix(3).prefix { $0 >= UInt8(ascii: "0") && $0 <= UInt8(ascii: "7") }
      rest = rest.dropFirst(digits.count)
      return UInt8(Substring(digits), radix: 8)
    }
    rest = rest.dropFirst()
    if kind == UInt8(ascii: "x") || kind == UInt8(ascii: "X") {
      let digits = rest.prefix(2)
      rest = rest.dropFirst(digits.count)
      return UInt8(Substring(digits), radix: 16)
    }
    return simpleEscapes[kind]
  }

  private static let simpleEscapes: [UInt8: UInt8] = [
    UInt8(ascii: "a"): 7, UInt8(ascii: "b"): 8, UInt8(ascii: "f"): 12, UInt8(ascii: "n"): 10,
    UInt8(ascii: "r"): 13,
    UInt8(ascii: "t"): 9, UInt8(ascii: "v"): 11, UInt8(ascii: "\\"): 92, UInt8(ascii: "'"): 39,
    UInt8(ascii: "\""): 34, UInt8(ascii: "?"): 63,
  ]
}
