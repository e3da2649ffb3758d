/// What a rule writes in place of a match: text, with the names of holes, such as `$value` or `${value}`.
///
/// `$try` is the `try`, `try!` or `try?` of the hole `$effects`, and `try` if it has none. A line break is followed by the
/// indentation of the first line.
struct Template: Sendable, Hashable {
  enum Piece: Sendable, Hashable {
    case text(String)
    case hole(String)
  }

  let pieces: [Piece]

  init(_ text: String) {
    var pieces: [Piece] = []
    for (place, part) in text.split(separator: "$", omittingEmptySubsequences: false).enumerated() {
      guard place > 0 else {
        pieces.append(.text(String(part)))
        continue
      }
      let isInBraces = part.first == "{"
      let name = part.dropFirst(isInBraces ? 1 : 0).prefix { $0.isASCII && ($0.isLetter || $0.isNumber) }
      pieces += [.hole(String(name)), .text(String(part.dropFirst(name.count + (isInBraces ? 2 : 0))))]
    }
    self.pieces = pieces.filter { $0 != .text("") }
  }

  /// The edit that it makes of a match, with values for holes that are not in the pattern.
  func edit(_ match: PatternMatch, in source: SwiftSource, with values: [String: String]) -> Edit {
    let range = match.range(in: source)
    let lineBreak = source.newline + source.indentation(of: range.lowerBound)
    let pieces = pieces.compactMap { piece -> Edit.Piece? in
      switch piece {
      case .text(let text): .text(text.replacing("\n", with: lineBreak))
      case .hole("try"): .text(Self.effect(match, in: source))
      case .hole(let name):
        values[name].map { .text($0) } ?? match.range(of: name, in: source).map { .kept($0) }
      }
    }
    return Edit(range: range, pieces: pieces)
  }

  private static func effect(_ match: PatternMatch, in source: SwiftSource) -> String {
    guard let effects = match.holes["effects"],
      let word = effects.first(where: { source.isToken("try", at: $0) }),
      effects.contains(word + 1), source.isToken("!", at: word + 1) || source.isToken("?", at: word + 1)
    else { return "try" }
    return source.isToken("!", at: word + 1) ? "try!" : "try?"
  }
}
