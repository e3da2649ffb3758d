/// A place where a pattern fits.
struct PatternMatch: Sendable {
  /// The tokens.
  private(set) var tokens: Range<Int>
  /// The tokens of each hole, by its name.
  private(set) var holes: [String: Range<Int>] = [:]
  /// The bytes of `$stem`.
  private(set) var stem: Range<Int>?

  /// An expression in code that somebody wrote has fewer tokens.
  private static let longestExpression = 2000
  /// So has a path. Each of its words may be an anchor.
  private static let longestPath = 200
  private static let mostDigits = 9

  /// Fits a pattern to a file, with its anchor at a token. Nil if it does not fit.
  init?(_ pattern: Pattern, in source: SwiftSource, at anchor: Int) {
    tokens = anchor..<anchor
    // What precedes the anchor is short, and an expression after it may be long.
    guard fitBackward(pattern.elements[..<pattern.anchorIndex], in: source),
      fitForward(pattern.elements[pattern.anchorIndex...], in: source)
    else { return nil }
  }

  /// The bytes of the match.
  func range(in source: SwiftSource) -> Range<Int> { source.bytes(of: tokens) }

  /// The bytes of a hole; nil if it is empty.
  func range(of hole: String, in source: SwiftSource) -> Range<Int>? {
    if hole == "stem" { return stem }
    guard let tokens = holes[hole], !tokens.isEmpty else { return nil }
    return source.bytes(of: tokens)
  }

  /// The value of a hole that is a decimal literal, of so few digits that its product with a factor of a template fits.
  func integer(of hole: String, in source: SwiftSource) -> Int? {
    guard let tokens = holes[hole], tokens.count == 1, let token = tokens.first else { return nil }
    let digits = source[token].filter { $0 != UInt8(ascii: "_") }
    return digits.count <= Self.mostDigits ? Int(String(decoding: digits, as: UTF8.self)) : nil
  }

  private mutating func fitForward(_ elements: ArraySlice<Pattern.Element>, in source: SwiftSource) -> Bool {
    var index = tokens.upperBound
    for (place, element) in zip(elements.indices, elements) {
      guard let end = end(of: element, from: index, before: elements[(place + 1)...].first, in: source) else {
        return false
      }
      keep(element, index..<end, in: source)
      index = end
    }
    tokens = tokens.lowerBound..<index
    return true
  }

  private func end(
    of element: Pattern.Element,
    from index: Int,
    before next: Pattern.Element?,
    in source: SwiftSource
  ) -> Int? {
    switch element {
    case .exact(let bytes): return source.isToken(bytes, at: index) ? index + 1 : nil
    case .suffix(let bytes):
      guard source.isWord(index), source[index].count > bytes.count,
        source[index].suffix(bytes.count) == bytes[...]
      else { return nil }
      return index + 1
    case .word, .path: return source.isWord(index) ? index + 1 : nil
    case .expression: return Self.endOfExpression(from: index, before: next, in: source)
    case .effects: return Self.endOfEffects(from: index, in: source)
    }
  }

  private static func endOfExpression(
    from start: Int,
    before next: Pattern.Element?,
    in source: SwiftSource
  ) -> Int? {
    guard case .exact(let end)? = next else { return nil }
    var index = start
    while index < source.tokens.count, index - start < longestExpression {
      if source.isToken(end, at: index) { return index > start ? index : nil }
      switch source.tokens[index].kind == .mark ? source[index].first : nil {
      case UInt8(ascii: ","), UInt8(ascii: ";"), UInt8(ascii: ")"), UInt8(ascii: "]"), UInt8(ascii: "}"):
        return nil
      case UInt8(ascii: "("), UInt8(ascii: "["), UInt8(ascii: "{"):
        guard let partner = source.partner(of: index) else { return nil }
        index = partner + 1
      default: index += 1
      }
    }
    return nil
  }

  private static func endOfEffects(from start: Int, in source: SwiftSource) -> Int {
    var index = start
    while source.isToken("try", at: index) || source.isToken("await", at: index) {
      index += source.isToken("!", at: index + 1) || source.isToken("?", at: index + 1) ? 2 : 1
    }
    return index
  }

  private mutating func fitBackward(_ elements: ArraySlice<Pattern.Element>, in source: SwiftSource) -> Bool {
    var index = tokens.lowerBound
    for element in elements.reversed() {
      guard let start = Self.start(of: element, before: index, in: source) else { return false }
      keep(element, start..<index, in: source)
      index = start
    }
    tokens = index..<tokens.upperBound
    return true
  }

  private static func start(of element: Pattern.Element, before index: Int, in source: SwiftSource) -> Int? {
    switch element {
    case .exact(let bytes): return source.isToken(bytes, at: index - 1) ? index - 1 : nil
    case .word: return source.isWord(index - 1) ? index - 1 : nil
    case .path:
      guard source.isWord(index - 1) else { return nil }
      var start = index - 1
      while source.isToken(".", at: start - 1), source.isWord(start - 2) {
        guard index - start < longestPath else { return nil }
        start -= 2
      }
      return start
    case .effects: return startOfEffects(before: index, in: source)
    case .expression, .suffix: return nil
    }
  }

  private static func startOfEffects(before index: Int, in source: SwiftSource) -> Int {
    var start = index
    while true {
      let isMarked = source.isToken("!", at: start - 1) || source.isToken("?", at: start - 1)
      let word = isMarked ? start - 2 : start - 1
      guard source.isToken("try", at: word) || !isMarked && source.isToken("await", at: word) else {
        return start
      }
      start = word
    }
  }

  private mutating func keep(_ element: Pattern.Element, _ range: Range<Int>, in source: SwiftSource) {
    switch element {
    case .exact: break
    case .suffix(let bytes):
      let word = source.tokens[range.lowerBound].range
      stem = word.lowerBound..<(word.upperBound - bytes.count)
    case .word(let name), .path(let name), .expression(let name): holes[name] = range
    case .effects: holes["effects"] = range
    }
  }
}
