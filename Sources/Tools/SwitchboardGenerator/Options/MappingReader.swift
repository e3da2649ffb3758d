import SwitchboardText

/// Reads mappings in text form: a sequence of blocks with fields.
///
///     mapping { module_name: "Shop" proto_file_path: ["shop/order.proto", "shop/cart.proto"] }
struct MappingReader {
  /// One block, with the values of each of its fields.
  struct Block {
    let kind: String
    fileprivate(set) var fields: [String: [String]] = [:]
    /// Makes an error with the line on which the block ends.
    let error: @Sendable (String) -> GeneratorError

    /// The values of a field.
    subscript(field: String) -> [String] { fields[field] ?? [] }

    /// The value of a field that may occur only once.
    func single(_ field: String) throws(GeneratorError) -> String? {
      let values = self[field]
      guard values.count < 2 else { throw error("\(field) is given twice") }
      return values.first
    }
  }

  private enum Token: Equatable {
    case word(String)
    case text(String)
    case mark(Character)
  }

  private let title: String
  private let kind: String
  private let fields: [String]
  private var rest: Substring
  private var line = 1
  private var hasBlocks = false

  /// A reader for blocks of one kind; `title` is the prefix of errors.
  init(_ text: String, title: String, kind: String, fields: [String]) {
    self.title = title
    self.kind = kind
    self.fields = fields
    rest = text[...]
  }

  /// The next block, or nil at the end. A text without blocks is an error: it would have no effect.
  mutating func next() throws(GeneratorError) -> Block? {
    guard let name = try token() else {
      guard hasBlocks else { throw GeneratorError("\(title): there is no \(kind)") }
      return nil
    }
    guard name == .word(kind) else { throw error("expected '\(kind)'") }
    var open = try token()
    if open == .mark(":") { open = try token() }
    guard open == .mark("{") else { throw error("expected '{' after '\(kind)'") }
    var values: [String: [String]] = [:]
    while let field = try token() {
      if field == .mark("}") {
        let location = "\(title), line \(line): "
        hasBlocks = true
        return Block(kind: kind, fields: values) { GeneratorError(location + $0) }
      }
      if field == .mark(",") || field == .mark(";") { continue }
      try read(field, into: &values)
    }
    throw error("missing '}' at the end of the \(kind)")
  }

  private mutating func read(_ field: Token, into values: inout [String: [String]]) throws(GeneratorError) {
    guard try token() == .mark(":") else { throw error("expected ':' after the name of a field") }
    guard case .word(let name) = field, fields.contains(name) else {
      let known = fields.dropLast().joined(separator: ", ") + " and " + (fields.last ?? "")
      throw error("the fields of a \(kind) are \(known)")
    }
    values[name, default: []] += try readValues()
  }

  private mutating func readValues() throws(GeneratorError) -> [String] {
    let before = rest
    guard try token() == .mark("[") else {
      rest = before
      return [try text()]
    }
    var values: [String] = []
    repeat {
      values.append(try text())
      let mark = try token()
      if mark == .mark("]") { return values }
      guard mark == .mark(",") else { throw error("expected ',' or ']'") }
    } while true
  }

  private mutating func text() throws(GeneratorError) -> String {
    guard case .text(let text)? = try token() else { throw error("expected a string in quotes") }
    return text
  }

  private mutating func token() throws(GeneratorError) -> Token? {
    skipSpace()
    guard let first = rest.first else { return nil }
    if first == "\"" || first == "'" { return .text(try quoted(first)) }
    let word = rest.prefix { $0.isLetter || $0.isNumber || $0 == "_" }
    guard word.isEmpty else {
      rest = rest.dropFirst(word.count)
      return .word(String(word))
    }
    rest = rest.dropFirst()
    return .mark(first)
  }

  private mutating func quoted(_ quote: Character) throws(GeneratorError) -> String {
    var text = ""
    rest = rest.dropFirst()
    while let next = rest.popFirst(), !next.isNewline {
      if next == quote { return text }
      guard next == "\\" else {
        text.append(next)
        continue
      }
      guard let escaped = rest.popFirst(), let plain = Self.escapes[escaped] else {
        throw error("after a backslash, a string has one of \\ \" ' n r t")
      }
      text.append(plain)
    }
    throw error("a string must end on its line")
  }

  private static let escapes: [Character: Character] = [
    "\\": "\\", "\"": "\"", "'": "'", "n": "\n", "r": "\r", "t": "\t",
  ]

  private mutating func skipSpace() {
    while let first = rest.first {
      if first == "#" {
        rest = rest.drop { !$0.isNewline }
      } else if first.isWhitespace {
        if first.isNewline { line += 1 }
        rest = rest.dropFirst()
      } else {
        return
      }
    }
  }

  private func error(_ text: String) -> GeneratorError { GeneratorError("\(title), line \(line): \(text)") }
}
