/// An import, where it stands.
struct ImportStatement: Sendable {
  /// The token with the module's name.
  let module: Int
  let name: [UInt8]
  /// The tokens of the statement.
  let tokens: Range<Int>
  /// Whether it imports the whole module, and says nothing else, such as `@testable`.
  let isPlain: Bool
  let isTestable: Bool
  /// Whether it is between `#if` and `#endif`.
  let isConditional: Bool

  private static let kinds = Set(
    ["struct", "class", "enum", "protocol", "typealias", "func", "var", "let"].map { Array($0.utf8) }
  )

  /// All imports of a file.
  static func all(in source: SwiftSource) -> [ImportStatement] {
    var statements: [ImportStatement] = []
    var depth = 0
    for index in source.tokens.indices {
      if source.isToken("#", at: index) {
        if source.isToken("if", at: index + 1) { depth += 1 }
        if source.isToken("endif", at: index + 1) { depth -= 1 }
      } else if source.isToken("import", at: index), let statement = Self(at: index, in: source, depth) {
        statements.append(statement)
      }
    }
    return statements
  }

  private init?(at index: Int, in source: SwiftSource, _ depth: Int) {
    var start = index
    while start > 0, !source.tokens[start].beginsLine, index - start < 8 { start -= 1 }
    guard source.tokens[start].beginsLine else { return nil }
    let hasKind =
      source.isWord(index + 1) && Self.kinds.contains(Array(source[index + 1])) && source.isWord(index + 2)
    let module = hasKind ? index + 2 : index + 1
    guard source.isWord(module), !source.tokens[module].beginsLine else { return nil }
    var end = module + 1
    while source.isToken(".", at: end), source.isWord(end + 1) { end += 2 }
    self.module = module
    name = Array(source[module])
    tokens = start..<end
    isPlain = start == index && end == index + 2
    isTestable = (start..<index).contains { source.isToken("testable", at: $0) }
    isConditional = depth > 0
  }

  /// The bytes of its line, if there is nothing else on it.
  func wholeLine(in source: SwiftSource) -> Range<Int>? {
    let start = source.tokens[tokens.lowerBound].range.lowerBound
    let end = source.tokens[tokens.upperBound - 1].range.upperBound
    let line = source.lineRange(of: start)
    let rest = [source.bytes[line.lowerBound..<start], source.bytes[end..<line.upperBound]]
    return rest.allSatisfy { $0.allSatisfy { $0 <= 0x20 } } ? line : nil
  }
}
