/// Reads the text form of module mappings, one `mapping` after the other.
struct MappingReader {
  struct Mapping {
    var module = ""
    var paths: [String] = []
  }

  private enum Token: Equatable {
    case word(String)
    case text(String)
    case mark(Character)
  }

  private var rest: Substring
  private var line = 1

  init(_ text: String) { rest = text[...] }

  /// The next mapping, or nil at the end.
  mutating func next() throws(GeneratorError) -> Mapping? {
    guard let name = try token() else { return nil }
    guard name == .word("mapping") else { throw error("expected 'mapping'") }
    var open = try token()
    if open == .mark(":") { open = try token() }
    guard open == .mark("{") else { throw error("expected '{' after 'mapping'") }
    var mapping = Mapping()
    while let field = try token() {
      if field == .mark("}") { return try checked(mapping) }
      if field == .mark(",") || field == .mark(";") { continue }
      try read(field, into: &mapping)
    }
    throw error("the mapping has no '}' at its end")
  }

  private func checked(_ mapping: Mapping) throws(GeneratorError) -> Mapping {
    guard mapping.module.isIdentifier else {
      throw error("the mapping has no module_name that can be imported")
    }
    return mapping
  }

  private mutating func read(_ field: Token, into mapping: inout Mapping) throws(GeneratorError) {
    guard try token() == .mark(":") else { throw error("expected ':' after the name of a field") }
    switch field {
    case .word("module_name"): mapping.module = try text()
    case .word("proto_file_path"): try readPaths(into: &mapping)
    default: throw error("the fields of a mapping are module_name and proto_file_path")
    }
  }

  private mutating func readPaths(into mapping: inout Mapping) throws(GeneratorError) {
    let before = rest
    guard try token() == .mark("[") else {
      rest = before
      return mapping.paths.append(try text())
    }
    repeat {
      mapping.paths.append(try text())
      let mark = try token()
      if mark == .mark("]") { return }
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
    let text = rest.dropFirst().prefix { $0 != quote && $0 != "\\" && !$0.isNewline }
    let after = rest.dropFirst(1 + text.count)
    guard after.first == quote else { throw error("a string must end on its line and hold no backslash") }
    rest = after.dropFirst()
    return String(text)
  }

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

  private func error(_ text: String) -> GeneratorError {
    GeneratorError("module mappings, line \(line): \(text)")
  }
}
