/// A position in a text: line and column, counted from 1.
struct JSONPosition: Hashable {
  var line: Int
  var column: Int

  init(of offset: Int, in text: [UInt8]) {
    let before = text[..<offset]
    let start = before.lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0
    line = before.count { $0 == UInt8(ascii: "\n") } + 1
    column = String(decoding: before[start...], as: UTF8.self).count + 1
  }

  /// That of the first key with this name, which has no escapes, in a valid `text`; `nil` if there is none.
  init?(ofKey name: String, in text: [UInt8]) {
    let quoted = Array("\"\(name)\"".utf8)
    var start = 0
    while start + quoted.count < text.count {
      if text[start] == quoted[0], text[start...].starts(with: quoted) {
        let rest = text[(start + quoted.count)...].drop { [0x20, 0x09, 0x0A, 0x0D].contains($0) }
        if rest.first == UInt8(ascii: ":") { break }
      }
      start += 1
    }
    guard start + quoted.count < text.count else { return nil }
    self.init(of: start, in: text)
  }
}

/// The first position at which a text is not valid JSON.
struct JSONFault: Hashable {
  let position: JSONPosition
  /// Whether it is a comma after the last member or element, which some decoders allow.
  let isTrailingComma: Bool
  private let isComment: Bool
  private let expected: String

  /// Searches `text` for an error; `nil` if there is none.
  init?(in text: [UInt8]) {
    var scan = JSONScan(text: text)
    guard let expected = scan.firstFault() else { return nil }
    isTrailingComma = scan.trailingComma != nil
    isComment = scan.isAtComment
    position = JSONPosition(of: scan.trailingComma ?? scan.position, in: text)
    self.expected = expected
  }

  /// What is wrong there, or what would have been valid.
  var problem: String {
    if isComment { return "a comment" }
    return isTrailingComma ? "a trailing comma" : "expected \(expected)"
  }
}

/// The first string of a valid JSON text that a decoder should not get: a key that an object has twice, of which a decoder
/// would use one, and not say which; or a very long one, since the time that a decoder takes for combining marks grows with
/// the square of their number.
struct JSONStringFault: Hashable {
  let position: JSONPosition
  let problem: String

  /// Searches `text` up to its end or its first error.
  init?(in text: [UInt8]) {
    var scan = JSONScan(text: text)
    _ = scan.firstFault()
    if let long = scan.long {
      position = JSONPosition(of: long.lowerBound - 1, in: text)
      problem = "a key or a value is longer than \(JSONScan.longest) bytes"
    } else if let key = scan.doubled {
      position = JSONPosition(of: key.lowerBound - 1, in: text)
      problem = "the key \"\(String(decoding: text[key], as: UTF8.self))\" is given twice"
    } else {
      return nil
    }
  }
}

/// Parses JSON up to the first error.
private struct JSONScan {
  /// What may come next.
  private enum Next {
    case value, firstElement, firstKey, key, colon, separator
  }

  /// No path of a file is longer.
  static let longest = 4096

  let text: [UInt8]
  private(set) var position = 0
  private var next = Next.value
  /// The closing bracket of each open bracket.
  private var closers: [UInt8] = []
  /// The keys so far of each open bracket.
  private var keys: [Set<ArraySlice<UInt8>>] = []
  /// The first key that is there twice, without its quotes.
  private(set) var doubled: Range<Int>?
  /// The first string that is longer than they may be.
  private(set) var long: Range<Int>?

  init(text: [UInt8]) { self.text = text }

  /// Moves to the first error and returns what is expected there.
  mutating func firstFault() -> String? {
    while true {
      skip { [0x20, 0x09, 0x0A, 0x0D].contains($0) }
      if next == .separator && closers.isEmpty { return position == text.count ? nil : "the end of the file" }
      if let fault = step() { return fault }
    }
  }

  /// The comma before the first error, if that is the end of an object or of a list.
  var trailingComma: Int? {
    guard let closer = closers.last, position < text.count, text[position] == closer,
      let before = text[..<position].lastIndex(where: { ![0x20, 0x09, 0x0A, 0x0D].contains($0) }),
      text[before] == UInt8(ascii: ",")
    else { return nil }
    return before
  }

  /// Whether the first error is a comment as other languages have it.
  var isAtComment: Bool {
    ["//", "/*", "#"].contains { text[position...].starts(with: $0.utf8) }
  }

  /// Consumes the next token, or returns what was expected.
  private mutating func step() -> String? {
    switch next {
    case .value: return takeValue(or: "a value")
    case .firstElement: return takeCloser() ? nil : takeValue(or: "a value or \"]\"")
    case .firstKey: return takeCloser() ? nil : takeKey(or: "a key in quotes or \"}\"")
    case .key: return takeKey(or: "a key in quotes")
    case .colon:
      next = .value
      return take(UInt8(ascii: ":")) ? nil : "\":\""
    case .separator:
      if takeCloser() { return nil }
      let isObject = closers.last == UInt8(ascii: "}")
      next = isObject ? .key : .value
      return take(UInt8(ascii: ",")) ? nil : "\",\" or \"\(isObject ? "}" : "]")\""
    }
  }

  private mutating func takeValue(or fault: String) -> String? {
    if take(UInt8(ascii: "{")) {
      open(until: "}", .firstKey)
    } else if take(UInt8(ascii: "[")) {
      open(until: "]", .firstElement)
    } else if take(UInt8(ascii: "\"")) {
      next = .separator
      return finishString()
    } else {
      let start = position
      skip { $0 != 0x2C && $0 > 0x20 && $0 != 0x5D && $0 != 0x7D && $0 != 0x3A }
      let word = String(decoding: text[start..<position], as: UTF8.self)
      // The decoder rejects numbers that are malformed in other ways.
      let isNumber = word.first.map { $0.isNumber || $0 == "-" } == true && Double(word) != nil
      guard isNumber || ["true", "false", "null"].contains(word) else {
        position = start
        return fault
      }
      next = .separator
    }
    return nil
  }

  private mutating func takeKey(or fault: String) -> String? {
    guard take(UInt8(ascii: "\"")) else { return fault }
    next = .colon
    let start = position
    if let fault = finishString() { return fault }
    note(start..<(position - 1))
    return nil
  }

  private mutating func note(_ key: Range<Int>) {
    guard let last = keys.indices.last, !keys[last].insert(text[key]).inserted, doubled == nil else { return }
    doubled = key
  }

  private mutating func open(until closer: Unicode.Scalar, _ first: Next) {
    closers.append(UInt8(ascii: closer))
    keys.append([])
    next = first
  }

  /// Moves past the end of a string.
  private mutating func finishString() -> String? {
    let start = position
    while position < text.count, text[position] >= 0x20 {
      if take(UInt8(ascii: "\"")) {
        if position - 1 - start > Self.longest { long = long ?? start..<(position - 1) }
        return nil
      }
      position += text[position] == UInt8(ascii: "\\") ? 2 : 1
    }
    position = min(position, text.count)
    return "a quotation mark that ends the string"
  }

  private mutating func takeCloser() -> Bool {
    guard let closer = closers.last, take(closer) else { return false }
    closers.removeLast()
    keys.removeLast()
    next = .separator
    return true
  }

  private mutating func take(_ byte: UInt8) -> Bool {
    guard position < text.count, text[position] == byte else { return false }
    position += 1
    return true
  }

  private mutating func skip(_ isSkipped: (UInt8) -> Bool) {
    while position < text.count, isSkipped(text[position]) { position += 1 }
  }
}
