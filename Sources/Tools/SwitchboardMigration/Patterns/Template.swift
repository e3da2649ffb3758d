/// What a rule writes in place of a match: text, with the names of holes, such as `$value` or `${value}`.
///
/// `${count*60}` is the product of a hole that is an integer literal. `$try` is the `try`, `try!` or `try?` of the hole
/// `$effects`, and `try` if it has none. A line break is followed by the indentation of the first line.
struct Template: Sendable, Hashable {
  enum Piece: Sendable, Hashable {
    case text(String)
    case hole(String)
    case product(String, Int)
  }

  let pieces: [Piece]

  init(_ text: String) {
    var pieces: [Piece] = []
    for (place, part) in text.split(separator: "$", omittingEmptySubsequences: false).enumerated() {
      guard place > 0 else {
        pieces.append(.text(String(part)))
        continue
      }
      pieces += Self.pieces(of: part)
    }
    self.pieces = pieces.filter { $0 != .text("") }
  }

  /// The hole that a part begins with, and the text after it.
  private static func pieces(of part: Substring) -> [Piece] {
    guard part.first == "{" else {
      let name = part.prefix { $0.isASCII && ($0.isLetter || $0.isNumber) }
      return [.hole(String(name)), .text(String(part.dropFirst(name.count)))]
    }
    let inside = part.dropFirst().prefix { $0 != "}" }
    let words = inside.split(separator: "*")
    let name = words.first.map(String.init) ?? ""
    let factor = words.count == 2 ? Int(words[1]) : nil
    return [
      factor.map { .product(name, $0) } ?? .hole(name), .text(String(part.dropFirst(inside.count + 2))),
    ]
  }

  /// The edit that it makes of a match, with values for holes that are not in the pattern.
  func edit(_ match: PatternMatch, in source: SwiftSource, with values: [String: String]) -> Edit {
    let range = match.range(in: source)
    let lineBreak = source.newline + source.indentation(of: range.lowerBound)
    let pieces = pieces.compactMap { piece -> Edit.Piece? in
      switch piece {
      case .text(let text): .text(text.replacing("\n", with: lineBreak))
      case .hole("try"): .text(Self.effect(match, in: source))
      case .product(let name, let factor):
        match.integer(of: name, in: source).map { .text(String($0 * factor)) }
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
