/// Handlers of unary calls that return futures. They become `async` if each future is of a value or an error that is there
/// already.
struct FutureHandlers {
  private(set) var findings: [Finding] = []
  /// The tokens that the changes are about.
  private(set) var tokens: Set<Int> = []
  private let source: SwiftSource

  /// What takes the place of tokens, of which some may stay.
  private struct Change {
    let tokens: Range<Int>
    let text: String
    var kept: Range<Int>?
  }

  /// The type of a result is not longer than so many tokens.
  private static let longestType = 60
  /// Nor is what is between a statement's first word and its brace.
  private static let longestCondition = 60
  private static let branches = Set(["if", "else", "switch", "for", "while"].map { Array($0.utf8) })

  init(source: SwiftSource) {
    self.source = source
    var end = 0
    for index in source.tokens.indices
    where index >= end && source.isToken("StatusOnlyCallContext", at: index) {
      guard let (response, open) = head(of: index), let close = source.partner(of: open) else { continue }
      end = close
      add(changes(type: index, response: response, body: (open + 1)..<close))
    }
  }

  private mutating func add(_ changes: [Change]) {
    let edits = changes.map { change in
      let kept = change.kept.map { [Edit.Piece.kept(source.bytes(of: $0))] } ?? []
      return Edit(range: source.bytes(of: change.tokens), pieces: [.text(change.text)] + kept)
    }
    guard zip(changes, edits).allSatisfy({ !$1.losesComment(in: source, tokens: $0.tokens) }) else { return }
    findings += edits.map { Finding($0.range, in: source, $0, "handlers are async") }
    for change in changes { tokens.formUnion(Set(change.tokens).subtracting(change.kept ?? 0..<0)) }
  }

  /// The result's type in `StatusOnlyCallContext) -> EventLoopFuture<…> {`, which begins at a token, and its brace.
  private func head(of type: Int) -> (response: Range<Int>, open: Int)? {
    guard source.isToken(")", at: type + 1), source.isToken("->", at: type + 2) else { return nil }
    let future = source.isToken(".", at: type + 4) ? type + 5 : type + 3
    guard source.isToken("EventLoopFuture", at: future), source.isToken("<", at: future + 1),
      let open = (future..<source.tokens.count).prefix(Self.longestType).first(where: {
        source.isToken("{", at: $0)
      }),
      source.isToken(">", at: open - 1), open > future + 3
    else { return nil }
    return ((future + 2)..<(open - 1), open)
  }

  /// The changes of a handler; none if it returns another future.
  private func changes(type: Int, response: Range<Int>, body: Range<Int>) -> [Change] {
    guard let results = results(in: body), !results.isEmpty else { return [] }
    return [
      Change(tokens: type..<(type + 1), text: "ServerCallContext"),
      Change(tokens: (type + 2)..<(response.upperBound + 1), text: "async throws -> ", kept: response),
    ] + results
  }

  /// What takes the place of all that a handler returns; nil if a `return` may be that of a function or a closure in it, or
  /// in reach of a `catch`. Returns in the argument of a future are those of closures, and stay.
  private func results(in body: Range<Int>) -> [Change]? {
    if argument(of: body.lowerBound)?.upperBound == body.upperBound - 1 {
      return result(from: body.lowerBound).map { [$0] }
    }
    var results: [Change] = []
    var index = body.lowerBound
    while index < body.upperBound {
      if source.isToken("return", at: index) {
        guard let result = result(from: index) else { return nil }
        results.append(result)
        index = result.tokens.upperBound
      } else {
        guard let next = next(after: index) else { return nil }
        index = next
      }
    }
    return results
  }

  /// The next token that may be in the handler's own code; nil if there is a `return` between.
  private func next(after index: Int) -> Int? {
    guard source.isToken("{", at: index), !isBranch(index), let close = source.partner(of: index) else {
      return index + 1
    }
    return (index..<close).contains { source.isToken("return", at: $0) } ? nil : close
  }

  /// Whether a brace is that of a statement which begins on its line, such as `if`: not of a closure, a function or `do`.
  private func isBranch(_ brace: Int) -> Bool {
    var index = brace - 1
    for _ in 0..<Self.longestCondition where index > 0 {
      if Self.branches.contains(Array(source[index])) { return true }
      if source.tokens[index].beginsLine || "{([;".utf8.contains(source[index].first ?? 0) { return false }
      index = (source.partner(of: index) ?? index) - 1
    }
    return false
  }

  /// What takes the place of a future that is returned, with or without saying so.
  private func result(from start: Int) -> Change? {
    let isReturn = source.isToken("return", at: start)
    guard let argument = argument(of: isReturn ? start + 1 : start) else { return nil }
    let end = argument.upperBound + 1
    guard endsStatement(before: end) else { return nil }
    let fails = source.isToken("makeFailedFuture", at: argument.lowerBound - 2)
    return Change(tokens: start..<end, text: fails ? "throw " : isReturn ? "return " : "", kept: argument)
  }

  /// Whether a statement ends before a token: no operator, member or closure in the next line belongs to it.
  private func endsStatement(before next: Int) -> Bool {
    guard !source.isToken("}", at: next) else { return true }
    return source.isWord(next) && source.tokens[next].beginsLine
      && !["as", "is"].contains { source.isToken($0, at: next) }
  }

  /// What the future in `context.eventLoop.makeSucceededFuture(_)` or `makeFailedFuture(_)` is made of.
  private func argument(of context: Int) -> Range<Int>? {
    guard source.isWord(context), source.isToken(".", at: context + 1),
      source.isToken("eventLoop", at: context + 2),
      source.isToken(".", at: context + 3),
      ["makeSucceededFuture", "makeFailedFuture"].contains(where: { source.isToken($0, at: context + 4) }),
      source.isToken("(", at: context + 5), let close = source.partner(of: context + 5), close > context + 6
    else { return nil }
    return (context + 6)..<close
  }
}
