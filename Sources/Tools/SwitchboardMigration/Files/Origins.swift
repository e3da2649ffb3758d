/// What the names of a file are given.
///
/// It knows no scopes: a name that is declared in several ways has no origin anywhere in the file.
struct Origins: Sendable {
  private var origins: [[UInt8]: Origin?] = [:]
  /// The parameters before this token are added.
  private var endOfParameters = 0

  /// The name of a function, with its generic parameters, is not longer than so many tokens.
  private static let longestName = 60
  private static let variables = Set(["let", "var"].map { Array($0.utf8) })
  private static let functions = Set(["func", "init", "subscript"].map { Array($0.utf8) })

  init(_ source: SwiftSource) {
    for index in source.tokens.indices where source.isWord(index) {
      let word = Array(source[index])
      if Self.variables.contains(word) {
        addVariable(index, in: source)
      } else if Self.functions.contains(word), !source.isToken(".", at: index - 1) {
        addParameters(index, in: source)
      } else if source.isToken("in", at: index), !source.isToken(":", at: index + 1) {
        addNames(before: index, in: source)
      } else if source.isToken(",", at: index - 1), source.isToken("=", at: index + 1) {
        add(index, nil, in: source)
      }
    }
  }

  /// The origin of all that has the name.
  subscript(_ name: [UInt8]) -> Origin? { origins[name] ?? nil }

  private mutating func add(_ index: Int, _ origin: Origin?, in source: SwiftSource) {
    let name = Array(source[index])
    origins.updateValue(origins[name, default: origin] == origin ? origin : nil, forKey: name)
  }

  /// Adds `let name = …`, or the names of a pattern.
  private mutating func addVariable(_ index: Int, in source: SwiftSource) {
    if source.isWord(index + 1), !source.isToken(".", at: index + 2) {
      let isGiven = source.isToken("=", at: index + 2)
      let origin =
        isGiven ? Self.origin(of: index + 3, in: source) : Self.origin(ofType: index + 2, in: source)
      return add(index + 1, origin, in: source)
    }
    let pattern = (index + 1..<source.tokens.count).prefix { token in
      !["=", ":", "{", "let", "var"].contains { source.isToken($0, at: token) }
    }
    for name in pattern where source.isWord(name) { add(name, nil, in: source) }
  }

  private static func origin(of start: Int, in source: SwiftSource) -> Origin? {
    var start = start
    while ["try", "await", "!", "?"].contains(where: { source.isToken($0, at: start) }) { start += 1 }
    return Origin(of: start, in: source)
  }

  /// Adds what is before a colon in the parentheses after `func`, `init` or `subscript`.
  private mutating func addParameters(_ index: Int, in source: SwiftSource) {
    let name = (index..<source.tokens.count).prefix(Self.longestName)
    guard let open = name.first(where: { source.isToken("(", at: $0) }), open >= endOfParameters,
      let close = source.partner(of: open)
    else { return }
    endOfParameters = close
    for name in open..<close where source.isWord(name) && source.isToken(":", at: name + 1) {
      add(name, Self.origin(ofType: name + 1, in: source), in: source)
    }
  }

  /// The origin of what has the type after a colon, if there is one.
  private static func origin(ofType colon: Int, in source: SwiftSource) -> Origin? {
    guard source.isToken(":", at: colon), source.isWord(colon + 1) else { return nil }
    return CallObjects.isClient(source[source.lastWord(ofNameAt: colon + 1)]) ? .nioClient : nil
  }

  /// Adds what is between `{` or `for` and `in`.
  private mutating func addNames(before end: Int, in source: SwiftSource) {
    let head = (0..<end).reversed().prefix { token in
      !["{", "for", "in"].contains { source.isToken($0, at: token) }
    }
    for name in head where source.isWord(name) { add(name, nil, in: source) }
  }
}
