/// Names in camel case, by the rules that Swift's protobuf users know: a word ends at `_`, at a digit or before a
/// capital, and `id`, `url`, `http` and `https` are written in capitals unless they come first in a lower name.
struct CamelCase {
  private enum Kind { case start, digit, lower, upper, underscore }

  private let startsUpper: Bool
  private var result: [UInt8] = []
  private var word: [UInt8] = []
  private var last = Kind.start

  /// `user_id` as `userID`.
  static func lower(_ name: String) -> String { transform(name, startsUpper: false) }

  /// `user_id` as `UserID`.
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
      // One `_` separates words; further ones stay, so that names which differ in them do not clash.
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
