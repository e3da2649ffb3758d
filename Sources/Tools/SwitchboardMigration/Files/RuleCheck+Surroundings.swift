// What is around a match. Each question looks at so many tokens that a file takes a time in proportion to its size.
extension RuleCheck {
  private static let farthest = 1000
  /// The parameters of a closure, with their types, are not longer than so many tokens.
  private static let longestParameters = 40

  /// Whether the square brackets around the match have a token.
  func isBesides(_ text: String, _ match: PatternMatch) -> Bool {
    var (index, steps) = (match.tokens.lowerBound, Self.farthest)
    while let open = bracket(around: index, &steps) {
      if source.isToken("[", at: open) {
        guard let end = source.partner(of: open) else { return false }
        return (open..<end).prefix(2000).contains { source.isToken(text, at: $0) }
      }
      index = open
    }
    return false
  }

  /// Whether the parentheses directly around the match follow one of some names.
  func isArgument(of names: [String], _ match: PatternMatch) -> Bool {
    var steps = Self.farthest
    guard let open = bracket(around: match.tokens.lowerBound, &steps), source.isToken("(", at: open) else {
      return false
    }
    return names.contains { source.isToken($0, at: open - 1) }
  }

  /// Whose messages the closure writes that declares the first name of a path; nil if that is not known.
  func direction(of hole: String, _ match: PatternMatch) -> Rule.Direction? {
    guard let name = match.holes[hole]?.first else { return nil }
    var (index, steps) = (match.tokens.lowerBound, Self.farthest)
    while let open = bracket(around: index, &steps) {
      if source.isToken("{", at: open), declares(open, source[name]) { return direction(ofClosure: open) }
      index = open
    }
    return nil
  }

  /// The bracket that is open at a token; nil if there is none near.
  private func bracket(around index: Int, _ steps: inout Int) -> Int? {
    var at = index - 1
    while at >= 0, steps > 0 {
      steps -= 1
      guard source.tokens[at].kind == .mark else {
        at -= 1
        continue
      }
      switch source[at].first {
      case UInt8(ascii: "("), UInt8(ascii: "["), UInt8(ascii: "{"): return at
      case UInt8(ascii: ")"), UInt8(ascii: "]"), UInt8(ascii: "}"): at = (source.partner(of: at) ?? at) - 1
      default: at -= 1
      }
    }
    return nil
  }

  /// Whether a name is among the parameters of the closure that begins at a brace.
  private func declares(_ open: Int, _ name: ArraySlice<UInt8>) -> Bool {
    // A list of what is captured may come first.
    let start = source.isToken("[", at: open + 1) ? source.partner(of: open + 1) ?? open : open
    var isFound = false
    for index in (start + 1..<source.tokens.count).prefix(Self.longestParameters) {
      if source.isToken("in", at: index) { return isFound }
      if ["{", "}", "=", "for"].contains(where: { source.isToken($0, at: index) }) { return false }
      isFound = isFound || source.isWord(index) && source[index] == name
    }
    return false
  }

  private func direction(ofClosure open: Int) -> Rule.Direction? {
    if source.isToken(":", at: open - 1) {
      let isOfRequests = ["requestProducer", "producer"].contains { source.isToken($0, at: open - 2) }
      return isOfRequests ? .requests : nil
    }
    let end = open - 1
    let name = source.isToken(")", at: end) ? (source.partner(of: end) ?? 0) - 1 : end
    guard source.isWord(name) else { return nil }
    if source.isToken("StreamingServerResponse", at: name) { return .responses }
    if source.isToken("StreamingClientRequest", at: name) { return .requests }
    // A method of a client: what runs its closure at once is a function, or begins a task.
    guard source.isToken(".", at: name - 1), source.isWord(name - 2) else { return nil }
    return .requests
  }
}
