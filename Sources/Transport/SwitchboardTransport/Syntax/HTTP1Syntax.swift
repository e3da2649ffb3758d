// unsafe: request bytes that the socket lends for one read

import SwitchboardText

/// The lexical rules of HTTP/1.1.
enum HTTP1Syntax {
  typealias Bytes = UnsafeBufferPointer<UInt8>

  /// Whether `bytes` equal `word`, which is in lower case, ignoring case.
  static func isWord(_ bytes: some Collection<UInt8>, _ word: StaticString) -> Bool {
    guard bytes.count == word.utf8CodeUnitCount else { return false }
    return bytes.lazy.map(\.lowercased).elementsEqual(Bytes(start: word.utf8Start, count: bytes.count))
  }

  /// Whether a comma-separated list contains `word`.
  static func list(_ bytes: Bytes, contains word: StaticString) -> Bool {
    bytes.split(separator: UInt8(ascii: ",")).contains { isWord(trimmed($0), word) }
  }

  /// The bytes without leading and trailing spaces and tabs.
  static func trimmed<Part: BidirectionalCollection<UInt8>>(_ bytes: Part) -> Part.SubSequence {
    var part = bytes[...]
    while let first = part.first, isSpace(first) { part = part.dropFirst() }
    while let last = part.last, isSpace(last) { part = part.dropLast() }
    return part
  }

  private static func isSpace(_ byte: UInt8) -> Bool {
    byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t")
  }

  /// The name and the value of a field line. A line that starts with a space would continue the previous one; it is
  /// rejected, because no name starts with a space.
  static func field(_ line: Bytes) -> (name: Bytes, value: Bytes)? {
    guard let colon = line.firstIndex(of: UInt8(ascii: ":")) else { return nil }
    let name = Bytes(rebasing: line[..<colon])
    let value = Bytes(rebasing: trimmed(line[(colon + 1)...]))
    return FieldSyntax.isToken(name) && FieldSyntax.isValue(value) ? (name, value) : nil
  }

  static func isField(_ line: Bytes) -> Bool { field(line) != nil }

  static func isField(_ line: ArraySlice<UInt8>) -> Bool { line.withUnsafeBufferPointer { isField($0) } }

  /// Parses a number that consists only of digits and fits an `Int`.
  static func number(_ digits: some Collection<UInt8>) -> Int? {
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
  static func chunkSize(_ line: Bytes) -> Int? {
    let digits = line.prefix { hexadecimal($0) != nil }
    let rest = line[digits.endIndex...]
    guard (1...8).contains(digits.count), rest.isEmpty || trimmed(rest).first == UInt8(ascii: ";"),
      FieldSyntax.isValue(Bytes(rebasing: rest))
    else { return nil }
    return digits.reduce(0) { $0 << 4 | (hexadecimal($1) ?? 0) }
  }

  private static func hexadecimal(_ digit: UInt8) -> Int? {
    switch digit.lowercased {
    case let digit where (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(digit):
      Int(digit - UInt8(ascii: "0"))
    case let digit where (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(digit):
      Int(digit - UInt8(ascii: "a")) + 10
    default: nil
    }
  }
}

/// Lets a `switch` compare the name of a field with words in lower case.
func ~= (word: StaticString, name: HTTP1Syntax.Bytes) -> Bool { HTTP1Syntax.isWord(name, word) }
