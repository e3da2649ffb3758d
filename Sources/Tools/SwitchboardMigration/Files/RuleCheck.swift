/// Decides where the rules of a table apply in a file.
struct RuleCheck {
  let source: SwiftSource
  let facts: SourceFacts
  let names: PackageNames
  /// What holes have that are not in patterns.
  var values: [String: String] = [:]
  /// Tokens that findings of others are about.
  var taken: Set<Int> = []

  /// What a table says about a file.
  func findings(by table: RuleTable) -> [Finding] {
    let others = taken.union(facts.imports.flatMap { Array($0.tokens) })
    var said: Set<String> = []
    var findings: [Finding] = []
    var done = Done()
    for index in source.tokens.indices where isSearched(index) && !others.contains(index) {
      guard let (rule, match) = first(of: table.rules(for: source[index]), at: index) else { continue }
      let range = match.range(in: source)
      guard !done.covers(range) else { continue }
      let finding = finding(rule, match)
      if rule.saysOnce, !said.insert(rule.advice).inserted { continue }
      done.add(range, kept: finding.edit?.kept ?? [])
      findings.append(finding)
    }
    return findings
  }

  /// The code that findings are about already, but for what an edit keeps.
  private struct Done {
    private var end = 0
    /// Outermost first. Of what is deeper than edits go, and of what lies behind, nothing is needed.
    private var kept: [Range<Int>] = []
    private static let deepest = 64

    func covers(_ range: Range<Int>) -> Bool {
      range.lowerBound < end
        && !kept.contains { $0.lowerBound <= range.lowerBound && range.upperBound <= $0.upperBound }
    }

    mutating func add(_ range: Range<Int>, kept new: [Range<Int>]) {
      let ahead = kept.filter { $0.upperBound > range.upperBound }
        .map { max($0.lowerBound, range.upperBound)..<$0.upperBound }
      kept = Array((ahead + new).suffix(Self.deepest))
      end = max(end, range.upperBound)
    }
  }

  private func isSearched(_ index: Int) -> Bool {
    source.tokens[index].kind == .word || source.tokens[index].kind == .text
  }

  private func first(of rules: [Rule], at index: Int) -> (Rule, PatternMatch)? {
    for rule in rules {
      guard let pattern = rule.pattern, let match = PatternMatch(pattern, in: source, at: index),
        isOwn(match, of: pattern), !isCut(match, by: rule), rule.conditions.allSatisfy({ holds($0, match) })
      else { continue }
      return (rule, match)
    }
    return nil
  }

  private func finding(_ rule: Rule, _ match: PatternMatch) -> Finding {
    let range = match.range(in: source)
    guard let template = rule.template else { return Finding(range, in: source, nil, rule.advice) }
    guard !rule.removesElement else { return removal(of: match, rule) }
    let edit = template.edit(match, in: source, with: values)
    // What follows may be a closure that belongs to the call.
    let isCut =
      source.isToken(")", at: match.tokens.upperBound - 1) && source.isToken("{", at: match.tokens.upperBound)
    guard !edit.losesComment(in: source, tokens: match.tokens), !isCut else {
      return Finding(range, in: source, nil, suggestion(edit, rule))
    }
    return Finding(range, in: source, edit, rule.advice)
  }

  private func suggestion(_ edit: Edit, _ rule: Rule) -> String {
    let shown = Finding(edit.range, in: source, edit, "").replacement ?? ""
    return "Write \(shown)" + (rule.advice.isEmpty ? "." : ": \(rule.advice).")
  }

  /// An element of a list goes with the comma after it, and with its line if nothing else is on it.
  private func removal(of match: PatternMatch, _ rule: Rule) -> Finding {
    let range = match.range(in: source)
    let hasComma = source.isToken(",", at: match.tokens.upperBound)
    let end = hasComma ? source.tokens[match.tokens.upperBound].range.upperBound : range.upperBound
    let whole = source.bytes[end...].prefix { $0 == 0x20 || $0 == 0x09 || $0 == 0x0D }
    let isAlone =
      source.tokens[match.tokens.lowerBound].beginsLine
      && source.bytes[whole.endIndex...].first == UInt8(ascii: "\n")
    let start = isAlone ? source.lineRange(of: range.lowerBound).lowerBound : range.lowerBound
    let removed = start..<(isAlone ? whole.endIndex + 1 : end)
    let edit = Edit(range: removed, pieces: [])
    let isLossless = !Edit(range: range, pieces: []).losesComment(in: source, tokens: match.tokens)
    return Finding(range, in: source, isLossless ? edit : nil, rule.advice)
  }

  // MARK: Conditions

  /// Whether the match is about what the pattern names, and not about something of the package that has the same name.
  private func isOwn(_ match: PatternMatch, of pattern: Pattern) -> Bool {
    let start = match.tokens.lowerBound
    if case .suffix = pattern.anchor { return isGeneratedName(start) }
    guard case .exact(let anchor) = pattern.anchor else { return false }
    if pattern.elements.count <= 2, names.isDeclared(anchor[...]) { return false }
    guard pattern.anchorIndex == 0, source.isToken(".", at: start - 1) else { return true }
    return source.isWord(start - 2) && Modules.qualifiers.contains(Array(source[start - 2]))
      || anchor.first.map { $0 > 0x60 } == true
  }

  /// Whether what precedes a path belongs to it, as in `server?.path`, and the template would write something between.
  private func isCut(_ match: PatternMatch, by rule: Rule) -> Bool {
    guard match.holes["path"]?.lowerBound == match.tokens.lowerBound,
      source.isToken(".", at: match.tokens.lowerBound - 1), let template = rule.template
    else { return false }
    return template.pieces.first != .hole("path")
  }

  private func isGeneratedName(_ index: Int) -> Bool {
    !names.isDeclared(source[index]) && names.isGenerated(source[index])
  }

  private func holds(_ condition: Rule.Condition, _ match: PatternMatch) -> Bool {
    switch condition {
    case .isHeaders(let hole): return isHeaders(match.holes[hole])
    case .isError(let hole): return isError(match.holes[hole])
    case .isName(let hole): return match.holes[hole].map(source.isName) ?? false
    case .isInteger(let hole): return match.integer(of: hole, in: source) != nil
    case .isStrings(let hole): return match.holes[hole].map(source.isDictionaryOfStrings) ?? false
    case .beginsLine: return source.tokens[match.tokens.lowerBound].beginsLine && endsLine(match)
    case .isDeclared(let hole, let origin):
      guard let token = match.holes[hole]?.first else { return false }
      return facts.isDeclared(Array(source[token]), as: origin)
    case .inType: return facts.areInTypes[match.tokens.lowerBound]
    case .notInProperty: return !facts.areInProperties[match.tokens.lowerBound]
    case .inherited: return isInherited(match.tokens.lowerBound)
    case .notInherited: return !isInherited(match.tokens.lowerBound)
    case .isLiteral(let hole, let texts):
      guard let tokens = match.holes[hole], tokens.count == 1, let token = tokens.first else { return false }
      return source.tokens[token].kind == .text
        && (texts.isEmpty || texts.contains { source.isToken($0, at: token) })
    case .noNIO: return !facts.keepsNIO
    case .imports(let module): return facts.imports(module)
    case .importsSecond: return facts.imports(Modules.two)
    case .isGenerated(let hole):
      guard let tokens = match.holes[hole], tokens.count == 1 else { return false }
      return isGeneratedName(tokens.lowerBound)
    case .besides(let text): return isBesides(text, match)
    case .notArgument(let names): return !isArgument(of: names, match)
    case .inInterceptor: return facts.areInInterceptors[match.tokens.lowerBound]
    case .writes(let direction, let hole): return direction == self.direction(of: hole, match)
    }
  }

  private func endsLine(_ match: PatternMatch) -> Bool {
    let next = match.tokens.upperBound
    return next >= source.tokens.count || source.tokens[next].beginsLine || source.isToken("}", at: next)
  }

  private static let headerNames = ["header", "metadata", "trailer"].map { Array($0.utf8) }

  /// Whether the last name of an expression is one of headers.
  private func isHeaders(_ tokens: Range<Int>?) -> Bool {
    // A loop's condition, and its body, are not what it goes through.
    guard let tokens, let last = tokens.last, source.isWord(last),
      !tokens.contains(where: { source.isToken("where", at: $0) || source.isToken("{", at: $0) })
    else { return false }
    let name = source[last].map { $0 | 0x20 }
    return Self.headerNames.contains { part in
      name.indices.contains { name[$0...].starts(with: part) }
    }
  }

  /// Whether the last name of a path is one of an error.
  private func isError(_ tokens: Range<Int>?) -> Bool {
    guard let last = tokens?.last else { return false }
    return source[last].suffix(5).map { $0 | 0x20 } == Array("error".utf8)
  }

  private static let typeKeywords = Set(
    ["class", "struct", "enum", "actor", "protocol", "extension"].map { Array($0.utf8) }
  )

  /// Whether a name is among what a type inherits. A declaration is not longer than some tokens.
  private func isInherited(_ index: Int) -> Bool {
    for token in (max(0, index - 60)..<index).reversed() {
      if source.isWord(token) {
        if Self.typeKeywords.contains(Array(source[token])) { return true }
        if source.isToken("func", at: token) { return false }
      } else if "(){}=;".utf8.contains(source[token].first ?? 0) {
        return false
      }
    }
    return false
  }
}
