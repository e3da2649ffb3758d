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
    let results = body.filter {
      source.isToken("return", at: $0)
        || $0 == body.lowerBound && argument(of: $0)?.upperBound == body.upperBound - 1
    }
    let changes = results.compactMap { result(from: $0) }
    guard !changes.isEmpty, changes.count == results.count else { return [] }
    return [
      Change(tokens: type..<(type + 1), text: "ServerCallContext"),
      Change(tokens: (type + 2)..<(response.upperBound + 1), text: "async throws -> ", kept: response),
    ] + changes
  }

  /// What takes the place of a future that is returned, with or without saying so.
  private func result(from start: Int) -> Change? {
    let isReturn = source.isToken("return", at: start)
    guard let argument = argument(of: isReturn ? start + 1 : start) else { return nil }
    let end = argument.upperBound + 1
    guard source.tokens.indices.contains(end), source.tokens[end].beginsLine || source.isToken("}", at: end)
    else {
      return nil
    }
    let fails = source.isToken("makeFailedFuture", at: argument.lowerBound - 2)
    return Change(tokens: start..<end, text: fails ? "throw " : isReturn ? "return " : "", kept: argument)
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
