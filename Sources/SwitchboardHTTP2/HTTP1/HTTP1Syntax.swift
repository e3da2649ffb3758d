/// The lexical rules of HTTP/1.1.
enum HTTP1Syntax {
  /// The characters of methods and field names.
  static func isToken(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "-"):
      true
    default:
      "!#$%&'*+.^_`|~".utf8.contains(byte)
    }
  }

  static func lowercased(_ byte: UInt8) -> UInt8 {
    (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte | 0x20 : byte
  }

  static func isWord(_ bytes: ArraySlice<UInt8>, _ word: String) -> Bool {
    bytes.lazy.map(lowercased).elementsEqual(word.utf8)
  }

  /// The bytes without leading and trailing spaces and tabs.
  static func trimmed(_ bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
    var part = bytes
    while let first = part.first, isSpace(first) { part = part.dropFirst() }
    while let last = part.last, isSpace(last) { part = part.dropLast() }
    return part
  }

  private static func isSpace(_ byte: UInt8) -> Bool {
    byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t")
  }

  /// The name and the value of a field line. A line that starts with a space would continue the previous one; it is
  /// rejected, because no name starts with a space.
  static func field(_ line: ArraySlice<UInt8>) -> (name: ArraySlice<UInt8>, value: ArraySlice<UInt8>)? {
    guard let colon = line.firstIndex(of: UInt8(ascii: ":")), colon > line.startIndex,
      line[..<colon].allSatisfy(isToken)
    else { return nil }
    let value = trimmed(line[(colon + 1)...])
    return value.withUnsafeBufferPointer(FieldSyntax.isValue) ? (line[..<colon], value) : nil
  }

  static func isField(_ line: ArraySlice<UInt8>) -> Bool { field(line) != nil }

  /// Parses a number that consists only of digits and fits an `Int`.
  static func number(_ digits: ArraySlice<UInt8>) -> Int? {
    guard (1...18).contains(digits.count) else { return nil }
    var number = 0
    for digit in digits {
      guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(digit) else { return nil }
      number = number * 10 + Int(digit - UInt8(ascii: "0"))
    }
    return number
  }

  /// The size of a chunk: up to eight hexadecimal digits before an optional extension. A line with a control character
  /// is rejected, because others may take a carriage return for the end of the line.
  static func chunkSize(_ line: ArraySlice<UInt8>) -> Int? {
    let digits = line.prefix { hexadecimal($0) != nil }
    let rest = line[digits.endIndex...]
    guard (1...8).contains(digits.count), rest.isEmpty || trimmed(rest).first == UInt8(ascii: ";"),
      rest.withUnsafeBufferPointer(FieldSyntax.isValue)
    else { return nil }
    return digits.reduce(0) { $0 << 4 | (hexadecimal($1) ?? 0) }
  }

  private static func hexadecimal(_ digit: UInt8) -> Int? {
    switch lowercased(digit) {
    case let digit where (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(digit):
      Int(digit - UInt8(ascii: "0"))
    case let digit where (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(digit):
      Int(digit - UInt8(ascii: "a")) + 10
    default: nil
    }
  }
}
