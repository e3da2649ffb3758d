import SwitchboardText

extension DocumentReader {
  // MARK: Keys

  /// The position of the colon after the key that begins at `start`; nil if no key begins there.
  func keyEnd(at start: Int) -> Int? {
    guard start < bytes.count else { return nil }
    var index = start
    if let quote = quote(at: start) {
      index += 1
      while index < bytes.count, bytes[index] != quote {
        if bytes[index] == UInt8(ascii: "\n") { return nil }
        index += bytes[index] == UInt8(ascii: "\\") && quote == UInt8(ascii: "\"") ? 2 : 1
      }
      index += 1
      while index < bytes.count, bytes[index] == UInt8(ascii: " ") { index += 1 }
      return index < bytes.count && bytes[index] == UInt8(ascii: ":") && endsKey(index) ? index : nil
    }
    guard !Self.indicators.contains(bytes[start]) else { return nil }
    while index < bytes.count, bytes[index] != UInt8(ascii: "\n") {
      if bytes[index] == UInt8(ascii: ":"), endsKey(index) { return index }
      if bytes[index] == UInt8(ascii: "#"), index > start, bytes[index - 1] == UInt8(ascii: " ") {
        return nil
      }
      index += 1
    }
    return nil
  }

  private func endsKey(_ colon: Int) -> Bool {
    guard colon + 1 < bytes.count else { return true }
    switch bytes[colon + 1] {
    case UInt8(ascii: " "), UInt8(ascii: "\n"), UInt8(ascii: "\r"), UInt8(ascii: "\t"): return true
    default: return false
    }
  }

  private func quote(at index: Int) -> UInt8? {
    let byte = bytes[index]
    return byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'") ? byte : nil
  }

  /// Characters that cannot begin plain text.
  static let indicators = Set("{}[],|>&*!%@`\"'#".utf8)

  /// Reads a key, up to its colon.
  mutating func key() throws(RuleError) -> String {
    if let byte = peek, byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'") {
      let name = try quoted(byte)
      skipSpaces()
      return name
    }
    guard let end = keyEnd(at: position) else { throw failure("expected a name") }
    defer { position = end }
    return try text(position..<end)
  }

  private func text(_ range: Range<Int>) throws(RuleError) -> String {
    var range = range
    while let last = bytes[range].last,
      last == UInt8(ascii: " ") || last == UInt8(ascii: "\r") || last == UInt8(ascii: "\t")
    {
      range = range.lowerBound..<range.upperBound - 1
    }
    guard let text = String(validating: bytes[range], as: UTF8.self) else {
      throw failure("text that is not UTF-8")
    }
    return text
  }

  // MARK: Values on a line

  /// Reads a value that begins on this line, and the rest of its last line.
  mutating func inline(within indent: Int) throws(RuleError) -> DocumentValue {
    guard let first = peek else { return .null }
    let value: DocumentValue
    switch first {
    case UInt8(ascii: "{"), UInt8(ascii: "["): value = try flow()
    case UInt8(ascii: "\""), UInt8(ascii: "'"): value = .string(try quoted(first))
    case UInt8(ascii: "|"): return .string(try literal(within: indent))
    case _ where Self.indicators.contains(first):
      throw failure("'\(shown)' begins YAML syntax that rules do not support; put text in quotes")
    default:
      let end = plainEnd { _ in false }
      value = try plain(end)
    }
    try endLine()
    return value
  }

  /// The end of plain text: the end of the line, a comment, or the first byte for which `isEnd` is true.
  private func plainEnd(_ isEnd: (UInt8) -> Bool) -> Int {
    var index = position
    while index < bytes.count, bytes[index] != UInt8(ascii: "\n"), !isEnd(bytes[index]) {
      if bytes[index] == UInt8(ascii: "#"), index > position, bytes[index - 1] == UInt8(ascii: " ") { break }
      index += 1
    }
    return index
  }

  private mutating func plain(_ end: Int) throws(RuleError) -> DocumentValue {
    let words = try text(position..<end)
    position = end
    if let word = Self.words.first(where: { words.isExactly($0.text) }) { return word.value }
    return Self.isNumber(words) ? .number(words) : .string(words)
  }

  private static let words: [(text: String, value: DocumentValue)] = [
    ("", .null), ("~", .null), ("null", .null), ("true", .bool(true)), ("false", .bool(false)),
  ]

  /// Whether the text is a JSON number. Others, such as 007, are strings.
  static func isNumber(_ text: String) -> Bool {
    guard text.utf8.count <= 64 else { return false }
    var rest = Array(text.utf8)[...]
    func skip(_ bytes: String.UTF8View) -> Bool {
      guard let first = rest.first, bytes.contains(first) else { return false }
      rest.removeFirst()
      return true
    }
    func skipDigits() -> Int {
      let digits = rest.prefix { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }.count
      rest.removeFirst(digits)
      return digits
    }
    _ = skip("-".utf8)
    let begin = rest.first
    let digits = skipDigits()
    guard digits == 1 || digits > 1 && begin != UInt8(ascii: "0") else { return false }
    if skip(".".utf8), skipDigits() == 0 { return false }
    if skip("eE".utf8) {
      _ = skip("+-".utf8)
      if skipDigits() == 0 { return false }
    }
    return rest.isEmpty
  }

  /// Reads a literal block: the following lines that are indented more than `indent`.
  private mutating func literal(within indent: Int) throws(RuleError) -> String {
    position += 1
    let keepsEnd = peek != UInt8(ascii: "-")
    if !keepsEnd { position += 1 }
    try endLine()
    var lines: [String] = []
    var margin: Int?
    while position < bytes.count {
      let end = endOfLine(position)
      let spaces = bytes[position..<end].prefix { $0 == UInt8(ascii: " ") }.count
      let isBlank = position + spaces == end || bytes[position + spaces] == UInt8(ascii: "\r")
      if !isBlank, spaces < margin ?? (indent + 1) { break }
      if !isBlank, margin == nil { margin = spaces }
      lines.append(isBlank ? "" : try text(position + (margin ?? 0)..<end))
      position = min(end + 1, bytes.count)
    }
    while lines.last?.isEmpty == true { lines.removeLast() }
    return lines.joined(separator: "\n") + (keepsEnd && !lines.isEmpty ? "\n" : "")
  }

  // MARK: Quotes

  mutating func quoted(_ quote: UInt8) throws(RuleError) -> String {
    position += 1
    var content: [UInt8] = []
    while let byte = peek {
      position += 1
      if byte == quote {
        guard quote == UInt8(ascii: "'"), peek == quote else {
          guard let text = String(validating: content, as: UTF8.self) else {
            throw failure("text that is not UTF-8")
          }
          return text
        }
        position += 1
        content.append(quote)
      } else if byte == UInt8(ascii: "\\"), quote == UInt8(ascii: "\"") {
        content += Array(try escape().utf8)
      } else {
        content.append(byte)
      }
    }
    throw failure("a quote is not closed")
  }

  /// The escapes of JSON.
  private mutating func escape() throws(RuleError) -> String {
    guard let byte = peek else { throw failure("a quote is not closed") }
    position += 1
    switch byte {
    case UInt8(ascii: "n"): return "\n"
    case UInt8(ascii: "t"): return "\t"
    case UInt8(ascii: "r"): return "\r"
    case UInt8(ascii: "b"): return "\u{8}"
    case UInt8(ascii: "f"): return "\u{c}"
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return String(Unicode.Scalar(byte))
    case UInt8(ascii: "u"): return String(try escapedScalar())
    default:
      position -= 1
      throw failure("'\\\(shown)' is not an escape of JSON")
    }
  }

  private mutating func escapedScalar() throws(RuleError) -> Unicode.Scalar {
    let first = try fourDigits()
    var value = UInt32(first)
    if (0xd800..<0xdc00).contains(first), rest(startsWith: "\\u", at: min(position, bytes.count)) {
      position += 2
      let second = try fourDigits()
      guard (0xdc00..<0xe000).contains(second) else { throw failure("an unpaired surrogate") }
      value = 0x10000 + (UInt32(first) - 0xd800) << 10 + UInt32(second) - 0xdc00
    }
    guard let scalar = Unicode.Scalar(value) else { throw failure("an unpaired surrogate") }
    return scalar
  }

  private mutating func fourDigits() throws(RuleError) -> UInt16 {
    guard position + 4 <= bytes.count, bytes[position..<position + 4].allSatisfy({ $0 != UInt8(ascii: "+") }),
      let number = UInt16(String(decoding: bytes[position..<position + 4], as: UTF8.self), radix: 16)
    else { throw failure("\\u needs four hexadecimal digits") }
    position += 4
    return number
  }

  // MARK: Flow

  /// Reads a value in JSON's notation, which may span lines.
  private mutating func flow() throws(RuleError) -> DocumentValue {
    guard depth < Self.depthLimit else { throw failure("values are nested too deeply") }
    depth += 1
    defer { depth -= 1 }
    switch peek {
    case UInt8(ascii: "{"): return .map(try flowMap())
    case UInt8(ascii: "["): return .list(try flowList())
    case let quote? where quote == UInt8(ascii: "\"") || quote == UInt8(ascii: "'"):
      return .string(try quoted(quote))
    case let first? where Self.indicators.contains(first):
      throw failure("'\(shown)' begins YAML syntax that rules do not support; put text in quotes")
    default:
      return try plain(plainEnd(Self.endsPlainFlow))
    }
  }

  private static func endsPlainFlow(_ byte: UInt8) -> Bool {
    byte == UInt8(ascii: ",") || byte == UInt8(ascii: "]") || byte == UInt8(ascii: "}")
      || byte == UInt8(ascii: ":")
  }

  private mutating func flowMap() throws(RuleError) -> [DocumentValue.Member] {
    position += 1
    var members: [DocumentValue.Member] = []
    var names: Set<ExactText> = []
    skipSpace()
    if try take("}") { return members }
    while true {
      guard case .some(let name) = try flowKey() else { throw failure("expected a name") }
      guard names.insert(name) else { throw failure("'\(name.excerpt)' occurs twice") }
      skipSpace()
      guard try take(":") else { throw failure("expected a colon, not '\(shown)'") }
      skipSpace()
      members.append(DocumentValue.Member(name, try flow()))
      skipSpace()
      if try take("}") { return members }
      guard try take(",") else { throw failure("expected a comma or a closing brace, not '\(shown)'") }
      try refuseTrailingComma(before: "}")
    }
  }

  /// Skips what follows a comma, up to the next member or item. JSON has one, and YAML need not.
  private mutating func refuseTrailingComma(before closer: Unicode.Scalar) throws(RuleError) {
    let comma = position - 1
    skipSpace()
    guard peek == UInt8(ascii: closer) else { return }
    throw RuleError(at: comma, in: bytes, "a trailing comma before '\(closer)': take it away")
  }

  private mutating func flowKey() throws(RuleError) -> String? {
    guard let first = peek else { return nil }
    if first == UInt8(ascii: "\"") || first == UInt8(ascii: "'") { return try quoted(first) }
    guard !Self.indicators.contains(first) else { return nil }
    let end = plainEnd(Self.endsPlainFlow)
    defer { position = end }
    let name = try text(position..<end)
    return name.isEmpty ? nil : name
  }

  private mutating func flowList() throws(RuleError) -> [DocumentValue] {
    position += 1
    var values: [DocumentValue] = []
    skipSpace()
    if try take("]") { return values }
    while true {
      values.append(try flow())
      skipSpace()
      if try take("]") { return values }
      guard try take(",") else { throw failure("expected a comma or a closing bracket, not '\(shown)'") }
      try refuseTrailingComma(before: "]")
    }
  }

  private mutating func take(_ character: Unicode.Scalar) throws(RuleError) -> Bool {
    guard peek == UInt8(ascii: character) else { return false }
    position += 1
    return true
  }

  /// Skips spaces, ends of lines and comments.
  private mutating func skipSpace() {
    while let byte = peek {
      switch byte {
      case UInt8(ascii: " "), UInt8(ascii: "\t"), UInt8(ascii: "\n"), UInt8(ascii: "\r"): position += 1
      case UInt8(ascii: "#"): position = endOfLine(position)
      default: return
      }
    }
  }
}
