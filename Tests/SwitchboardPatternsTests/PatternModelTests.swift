import SwitchboardPatterns
import TestSupport
import Testing

/// Random patterns and texts, against a model that tries all ways to divide a text.
@Suite struct PatternModelTests {
  private indirect enum Model {
    case letter(UInt8)
    case oneOf([UInt8], isInverted: Bool)
    case either(Model, Model)
    case both(Model, Model)
    case repeated(Model, ClosedRange<Int>, suffix: String)

    var text: String {
      switch self {
      case .letter(let letter): String(Unicode.Scalar(letter))
      case .oneOf(let letters, let isInverted):
        "[\(isInverted ? "^" : "")\(letters.map { String(Unicode.Scalar($0)) }.joined())]"
      case .either(let left, let right): "(\(left.text)|\(right.text))"
      case .both(let left, let right): left.text + right.text
      case .repeated(let inner, _, let suffix): "(?:\(inner.text))\(suffix)"
      }
    }

    /// Where a match that begins at one of the places may end.
    func ends(_ text: [UInt8], from starts: Set<Int>) -> Set<Int> {
      switch self {
      case .letter(let letter): Set(starts.filter { $0 < text.count && text[$0] == letter }.map { $0 + 1 })
      case .oneOf(let letters, let isInverted):
        Set(starts.filter { $0 < text.count && letters.contains(text[$0]) != isInverted }.map { $0 + 1 })
      case .either(let left, let right): left.ends(text, from: starts).union(right.ends(text, from: starts))
      case .both(let left, let right): right.ends(text, from: left.ends(text, from: starts))
      case .repeated(let inner, let counts, _): Self.ends(of: inner, counts, text, starts)
      }
    }

    private static func ends(
      of inner: Model,
      _ counts: ClosedRange<Int>,
      _ text: [UInt8],
      _ starts: Set<Int>
    ) -> Set<Int> {
      var (reached, all) = (starts, counts.lowerBound == 0 ? starts : [])
      // More repetitions than letters reach no other place.
      for count in 1...max(1, min(counts.upperBound, counts.lowerBound + text.count + 1)) {
        reached = inner.ends(text, from: reached)
        if counts.contains(count) { all.formUnion(reached) }
      }
      return all
    }
  }

  private static let letters = Array("abc".utf8)

  private func model(_ dice: inout Dice, depth: Int) -> Model {
    let letters = Self.letters
    if depth == 0 || dice.below(4) == 0 {
      if dice.below(3) > 0 { return .letter(letters[dice.below(3)]) }
      return .oneOf([letters[dice.below(3)], letters[dice.below(3)]], isInverted: dice.below(2) == 0)
    }
    switch dice.below(3) {
    case 0: return .either(model(&dice, depth: depth - 1), model(&dice, depth: depth - 1))
    case 1: return .both(model(&dice, depth: depth - 1), model(&dice, depth: depth - 1))
    default:
      let inner = model(&dice, depth: depth - 1)
      let most = Int.max
      let kinds: [(ClosedRange<Int>, String)] = [
        (0...most, "*"), (1...most, "+"), (0...1, "?"), (0...most, "*?"), (2...3, "{2,3}"),
        (1...most, "{1,}"),
      ]
      let (counts, suffix) = kinds[dice.below(kinds.count)]
      return .repeated(inner, counts, suffix: suffix)
    }
  }

  @Test func randomPatternsMatchAsTheModelSays() throws {
    var dice = Dice(seed: 46)
    var matched = 0
    for _ in 0..<1500 {
      let model = model(&dice, depth: 5)
      let pattern = try Pattern(model.text)
      for _ in 0..<8 {
        let text = (0..<dice.below(7)).map { _ in Self.letters[dice.below(3)] }
        let expected = model.ends(text, from: [0]).contains(text.count)
        #expect(
          pattern.matches(text.span) == expected,
          "\(model.text) \(String(decoding: text, as: UTF8.self))"
        )
        if expected { matched += 1 }
      }
    }
    // The model is no proof of anything if all is alike.
    #expect((1000..<11000).contains(matched), "\(matched)")
  }

  /// Whatever a text is, it is a pattern or refused with a reason, and whatever bytes come, they match or do not.
  @Test func anyTextIsAPatternOrRefused() {
    var dice = Dice(seed: 7)
    let parts = [
      "a", "b", ".", "*", "+", "?", "(", ")", "(?:", "(?P<n>", "(?i)", "(?s", "[", "]", "[^", "-", "|", "\\",
      "\\d", "\\pL", "\\Q",
      "\\E", "\\C", "\\b", "^", "$", "{2}", "{1,}", "{,3}", "{1000}", "\\x{10FFFF}", "\\x{110000}", "é",
      "\u{301}", "\0", "[[:alpha:]]",
    ]
    var accepted = 0
    for _ in 0..<3000 {
      let text = (0..<dice.below(12)).map { _ in parts[dice.below(parts.count)] }.joined()
      let bytes = (0..<dice.below(20)).map { _ in UInt8(dice.below(256)) }
      do throws(PatternError) {
        let pattern = try Pattern(text)
        _ = pattern.matches(bytes.span)
        accepted += 1
        _ = try Substitution(of: pattern, by: "<\\0>").applied(to: bytes.span)
      } catch { #expect(!error.reason.isEmpty && error.reason != "out of memory", "\(text)") }
    }
    #expect((100..<2900).contains(accepted), "\(accepted)")
  }
}
