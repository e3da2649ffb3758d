import SwitchboardText

/// Names in camel case, by the rules of SwiftProtobuf: a word ends at `_`, at a digit or before a capital, and `id`,
/// `url`, `http` and `https` are capitalized unless they begin a lower-camel-case name.
struct CamelCase {
  private enum Kind { case start, digit, lower, upper, underscore }

  private let startsUpper: Bool
  private var result: [UInt8] = []
  private var word: [UInt8] = []
  private var last = Kind.start

  /// `user_id` to `userID`.
  static func lower(_ name: String) -> String { transform(name, startsUpper: false) }

  /// `user_id` to `UserID`.
  static func upper(_ name: String) -> String { transform(name, startsUpper: true) }

  private static func transform(_ name: String, startsUpper: Bool) -> String {
    var camel = CamelCase(startsUpper: startsUpper)
    for byte in name.utf8 { camel.read(byte) }
    camel.endWord()
    if camel.last == .underscore { camel.result.append(UInt8(ascii: "_")) }
    return String(decoding: camel.result, as: UTF8.self)
  }

  private init(startsUpper: Bool) { self.startsUpper = startsUpper }

  private mutating func read(_ byte: UInt8) {
    let kind: Kind = byte.isDigit ? .digit : byte.isLower ? .lower : byte.isUpper ? .upper : .underscore
    switch kind {
    case .digit where last != .digit:
      endWord()
      // A name cannot begin with a digit.
      if result.isEmpty { result.append(UInt8(ascii: "_")) }
    case .upper where last != .upper, .lower where last != .lower && last != .upper: endWord()
    case .underscore:
      endWord()
      // One `_` separates words; further ones stay, to keep names different that differ only in them.
      if last == .underscore { result.append(byte) }
    default: break
    }
    if kind != .underscore { word.append(byte.lowercased) }
    last = kind
  }

  private mutating func endWord() {
    guard !word.isEmpty else { return }
    if startsUpper || !result.isEmpty { capitalizeWord() }
    result += word
    word.removeAll(keepingCapacity: true)
  }

  private mutating func capitalizeWord() {
    if CamelCase.isAcronym(word) {
      for index in word.indices { word[index] = word[index].uppercased }
    } else {
      word[0] = word[0].uppercased
    }
  }

  private static func isAcronym(_ word: [UInt8]) -> Bool {
    guard word.count >= 2, word.count <= 5 else { return false }
    let text = String(decoding: word, as: UTF8.self)
    return text == "id" || text == "url" || text == "http" || text == "https"
  }
}
