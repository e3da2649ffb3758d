import SwitchboardText

/// Reads JSON and the subset of YAML that rule files need: block and flow maps and lists, plain and quoted text,
/// literal blocks (`|`) and comments. Everything else, such as anchors, tags, folded text and several documents, is
/// rejected.
package struct DocumentReader {
  static let depthLimit = 64
  static let sizeLimit = 64 << 20

  let bytes: [UInt8]
  var position = 0
  var depth = 0

  package static func read(_ text: String) throws(RuleError) -> DocumentValue {
    guard text.utf8.count <= sizeLimit else {
      throw RuleError("the file is larger than \(sizeLimit >> 20) MiB")
    }
    var reader = DocumentReader(bytes: Array(text.utf8))
    return try reader.document()
  }

  private init(bytes: [UInt8]) { self.bytes = bytes }

  private mutating func document() throws(RuleError) -> DocumentValue {
    if bytes.starts(with: [0xef, 0xbb, 0xbf]) { position = 3 }
    if let line = try nextLine(), line.indent == 0, rest(startsWith: "---", at: line.start) {
      position = line.start + 3
      try endLine()
    }
    let value = try block(within: -1)
    guard try nextLine() == nil else { throw failure("this line does not continue what is above it") }
    return value
  }

  // MARK: Lines

  struct Line: Equatable {
    let indent: Int
    /// The position of the line's first character that is not a space.
    let start: Int
  }

  /// The next line with content. Skips lines before it, but does not consume it.
  mutating func nextLine() throws(RuleError) -> Line? {
    while position < bytes.count {
      var index = position
      while index < bytes.count, bytes[index] == UInt8(ascii: " ") { index += 1 }
      guard index < bytes.count else { break }
      switch bytes[index] {
      case UInt8(ascii: "\n"): position = index + 1
      case UInt8(ascii: "\r"), UInt8(ascii: "#"): position = endOfLine(index) + 1
      case UInt8(ascii: "\t"):
        position = index
        throw failure("a tab: lines are indented with spaces")
      default: return Line(indent: index - position, start: index)
      }
    }
    position = bytes.count
    return nil
  }

  func endOfLine(_ start: Int) -> Int {
    var index = start
    while index < bytes.count, bytes[index] != UInt8(ascii: "\n") { index += 1 }
    return index
  }

  /// Consumes the rest of a line after a value: spaces and a comment.
  mutating func endLine() throws(RuleError) {
    let before = position
    skipSpaces()
    guard position < bytes.count else { return }
    switch bytes[position] {
    case UInt8(ascii: "\n"): position += 1
    case UInt8(ascii: "\r"): position = endOfLine(position) + 1
    case UInt8(ascii: "#") where position > before || endsInSpace: position = endOfLine(position) + 1
    default: throw failure("unexpected '\(shown)' after a value")
    }
    position = min(position, bytes.count)
  }

  /// Whether a space precedes the position, as a comment requires.
  private var endsInSpace: Bool { position > 0 && bytes[position - 1] == UInt8(ascii: " ") }

  mutating func skipSpaces() {
    while let byte = peek, byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") { position += 1 }
  }

  var peek: UInt8? { position < bytes.count ? bytes[position] : nil }

  var isAtLineEnd: Bool { peek == nil || peek == UInt8(ascii: "\n") || peek == UInt8(ascii: "\r") }

  func rest(startsWith text: String, at index: Int) -> Bool { bytes[index...].starts(with: text.utf8) }

  /// The character at the position, for error messages.
  var shown: String {
    guard let byte = peek else { return "the end" }
    return byte > 0x20 && byte < 0x7f ? String(Unicode.Scalar(byte)) : "byte \(byte)"
  }

  func failure(_ reason: String) -> RuleError {
    let line = bytes[..<min(position, bytes.count)].count { $0 == UInt8(ascii: "\n") } + 1
    return RuleError(line: line, reason)
  }

  // MARK: Blocks

  /// Reads a value on separate lines that are indented more than `indent`.
  mutating func block(within indent: Int) throws(RuleError) -> DocumentValue {
    guard let line = try nextLine(), line.indent > indent else { return .null }
    position = line.start
    return try value(column: line.indent, within: indent)
  }

  /// Reads a value that begins at the position, which is in `column`.
  mutating func value(column: Int, within indent: Int) throws(RuleError) -> DocumentValue {
    guard depth < Self.depthLimit else { throw failure("values are nested too deeply") }
    depth += 1
    defer { depth -= 1 }
    if isDash(at: position) { return .list(try list(column)) }
    if keyEnd(at: position) != nil { return .map(try map(column)) }
    return try inline(within: indent)
  }

  private func isDash(at index: Int) -> Bool {
    guard index < bytes.count, bytes[index] == UInt8(ascii: "-") else { return false }
    guard index + 1 < bytes.count else { return true }
    return [UInt8(ascii: " "), UInt8(ascii: "\n"), UInt8(ascii: "\r")].contains(bytes[index + 1])
  }

  private mutating func list(_ column: Int) throws(RuleError) -> [DocumentValue] {
    var values: [DocumentValue] = []
    repeat {
      let dash = position
      position += 1
      skipSpaces()
      if isAtLineEnd || peek == UInt8(ascii: "#") {
        try endLine()
        values.append(try block(within: column))
      } else {
        values.append(try value(column: column + position - dash, within: column))
      }
    } while try isAtNextItem(column, hasDash: true)
    return values
  }

  private mutating func map(_ column: Int) throws(RuleError) -> [DocumentValue.Member] {
    var members: [DocumentValue.Member] = []
    var names: Set<ExactText> = []
    repeat {
      guard keyEnd(at: position) != nil else { throw failure("expected a name and a colon") }
      let name = try key()
      guard names.insert(name) else { throw failure("'\(name.excerpt)' occurs twice") }
      position += 1  // the colon
      skipSpaces()
      members.append(DocumentValue.Member(name, try memberValue(column)))
    } while try isAtNextItem(column, hasDash: false)
    return members
  }

  private mutating func memberValue(_ column: Int) throws(RuleError) -> DocumentValue {
    guard isAtLineEnd || peek == UInt8(ascii: "#") else { return try inline(within: column) }
    try endLine()
    // A list may begin in the same column as its key.
    if let line = try nextLine(), line.indent == column, isDash(at: line.start) {
      position = line.start
      return try value(column: column, within: column)
    }
    return try block(within: column)
  }

  /// Moves to the next line if it is another item of the same list or map.
  private mutating func isAtNextItem(_ column: Int, hasDash: Bool) throws(RuleError) -> Bool {
    guard let line = try nextLine(), line.indent >= column else { return false }
    guard line.indent == column else {
      position = line.start
      throw failure("this line is indented further than the lines that it could belong to")
    }
    guard isDash(at: line.start) == hasDash else { return false }
    position = line.start
    return true
  }
}
