/// The small words of HTTP/1.1.
enum HTTP1Syntax {
  /// What methods and names of fields are made of.
  static func isToken(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "a")...UInt8(ascii: "z"):
      true
    default:
      "!#$%&'*+-.^_`|~".utf8.contains(byte)
    }
  }

  static func lowercased(_ byte: UInt8) -> UInt8 {
    (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte | 0x20 : byte
  }

  static func isWord(_ bytes: ArraySlice<UInt8>, _ word: String) -> Bool {
    bytes.lazy.map(lowercased).elementsEqual(word.utf8)
  }

  /// Without the spaces and tabs around it.
  static func trimmed(_ bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
    var part = bytes
    while let first = part.first, isSpace(first) { part = part.dropFirst() }
    while let last = part.last, isSpace(last) { part = part.dropLast() }
    return part
  }

  private static func isSpace(_ byte: UInt8) -> Bool {
    byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t")
  }

  /// Digits and nothing else, few enough to fit.
  static func number(_ digits: ArraySlice<UInt8>) -> Int? {
    guard (1...18).contains(digits.count) else { return nil }
    var number = 0
    for digit in digits {
      guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(digit) else { return nil }
      number = number * 10 + Int(digit - UInt8(ascii: "0"))
    }
    return number
  }

  /// The size of a chunk: up to eight hexadecimal digits, before an extension if there is one.
  static func chunkSize(_ line: ArraySlice<UInt8>) -> Int? {
    let digits = trimmed(line.prefix { $0 != UInt8(ascii: ";") })
    guard (1...8).contains(digits.count) else { return nil }
    var size = 0
    for digit in digits {
      switch lowercased(digit) {
      case let digit where (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(digit):
        size = size * 16 + Int(digit - UInt8(ascii: "0"))
      case let digit where (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(digit):
        size = size * 16 + Int(digit - UInt8(ascii: "a")) + 10
      default: return nil
      }
    }
    return size
  }
}
