/// Calls of the clients of grpc-swift 1 whose methods return call objects. The one client that there is here has methods for
/// these, too, under other names.
struct CallObjects {
  private(set) var findings: [Finding] = []
  /// The tokens that the changes are about.
  private(set) var tokens: Set<Int> = []
  private let source: SwiftSource
  private let facts: SourceFacts

  /// The arguments of a call that somebody wrote have fewer tokens.
  private static let mostTokens = 2000
  private static let suffix = Array("NIOClient".utf8)

  init(source: SwiftSource, facts: SourceFacts, names: PackageNames) {
    self.source = source
    self.facts = facts
    let clients = source.tokens.indices.filter { source.isWord($0) && Self.isClient(source[$0]) }
    // A client that no generator has made may have any methods.
    guard !clients.isEmpty,
      clients.allSatisfy({ names.isGenerated(source[$0]) && !names.isDeclared(source[$0]) })
    else { return }
    for index in source.tokens.indices where isCall(index) && !names.isAdded(source[index]) {
      let range = source.tokens[index].range
      let edit = Edit(range: range, pieces: [.text(Self.name(source[index]))])
      findings.append(Finding(range, in: source, edit, "the method that returns a call object"))
      tokens.insert(index)
    }
  }

  /// Whether a name is one of such a client's type.
  static func isClient(_ name: ArraySlice<UInt8>) -> Bool {
    name.count > suffix.count && name.suffix(suffix.count) == suffix[...]
  }

  /// `makeGetCall` for `get`.
  private static func name(_ method: ArraySlice<UInt8>) -> String {
    "make" + String(decoding: [method[method.startIndex] & 0xDF] + method.dropFirst(), as: UTF8.self) + "Call"
  }

  /// Whether a word is the method of a call whose object is kept. What is awaited or waited for at once is left to a person,
  /// who needs no object, and so are calls with a closure for each response.
  private func isCall(_ index: Int) -> Bool {
    guard source.isWord(index), isMethod(source[index]), source.isToken("(", at: index + 1),
      let close = source.partner(of: index + 1), isClient(before: index),
      close - index < Self.mostTokens, !source.isToken(".", at: close + 1),
      !source.isToken("{", at: close + 1)
    else { return false }
    return !(index..<close).contains { source.isToken("handler", at: $0) && source.isToken(":", at: $0 + 1) }
  }

  private func isMethod(_ name: ArraySlice<UInt8>) -> Bool {
    (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(name.first ?? 0) && !name.starts(with: "make".utf8)
  }

  /// Whether a name of such a client, alone or with `self`, and a dot precede a token.
  private func isClient(before index: Int) -> Bool {
    guard source.isToken(".", at: index - 1) else { return false }
    let isMarked = source.isToken("!", at: index - 2) || source.isToken("?", at: index - 2)
    let name = isMarked ? index - 3 : index - 2
    guard source.isWord(name), facts.isDeclared(Array(source[name]), as: .nioClient) else { return false }
    return !source.isToken(".", at: name - 1)
      || source.isToken("self", at: name - 2) && !source.isToken(".", at: name - 3)
  }
}
