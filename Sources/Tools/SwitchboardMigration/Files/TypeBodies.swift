/// What types need that conform to generated protocols: providers say which interceptors they have, and factories have a
/// method for each of the service's.
struct TypeBodies {
  let source: SwiftSource
  let names: PackageNames

  private static let keywords = Set(["class", "struct", "actor", "enum"].map { Array($0.utf8) })
  private static let provider = Array("Provider".utf8)
  private static let accessible = ["public", "open", "package"]
  /// A declaration up to its brace is not longer than so many tokens.
  private static let longestHead = 100

  func findings() -> [Finding] {
    let extended = extendedNames
    return source.tokens.indices.flatMap { index -> [Finding] in
      guard source.isWord(index), Self.keywords.contains(Array(source[index])), source.isWord(index + 1),
        let open = head(from: index)
      else { return [] }
      let isExtended = extended.contains(Array(source[index + 1]))
      let provider = inherited(index..<open).first { isProvider($0) }
      return (provider.flatMap { _ in missing(index, open, isCertain: !isExtended) }.map { [$0] } ?? [])
        + stale(index, open)
    }
  }

  /// The types that have an extension in the file, which may have what is not in their bodies.
  private var extendedNames: Set<[UInt8]> {
    Set(
      source.tokens.indices.filter { source.isToken("extension", at: $0) && source.isWord($0 + 1) }
        .map { Array(source[$0 + 1]) }
    )
  }

  /// The tokens of a body that are in none of the brackets in it.
  private func ownTokens(_ open: Int) -> [Int] {
    guard let close = source.partner(of: open) else { return [] }
    var tokens: [Int] = []
    var index = open + 1
    while index < close {
      tokens.append(index)
      index = max(index, source.partner(of: index) ?? index) + 1
    }
    return tokens
  }

  private func head(from index: Int) -> Int? {
    for at in (index + 2)..<min(index + Self.longestHead, source.tokens.count)
    where source.tokens[at].kind == .mark {
      if source.isToken("{", at: at) { return at }
      if "}();=".utf8.contains(source[at].first ?? 0) { return nil }
    }
    return nil
  }

  private func inherited(_ tokens: Range<Int>) -> [Int] {
    guard let colon = tokens.first(where: { source.isToken(":", at: $0) }) else { return [] }
    return (colon..<tokens.upperBound).filter { source.isWord($0) }
  }

  private func isProvider(_ name: Int) -> Bool {
    source[name].suffix(Self.provider.count) == Self.provider[...] && !names.isDeclared(source[name])
      && names.isGenerated(source[name]) && source[name].count > Self.provider.count
  }

  private func missing(_ declaration: Int, _ open: Int, isCertain: Bool) -> Finding? {
    guard source.partner(of: open) != nil, !declaresInterceptors(open) else { return nil }
    let at = source.tokens[open].range.upperBound
    let indentation = source.indentation(of: source.tokens[declaration].range.lowerBound)
    let access = (max(0, declaration - 3)..<declaration).compactMap { token in
      Self.accessible.first { source.isToken($0, at: token) }
    }
    let word = access.first.map { $0 == "open" ? "public " : $0 + " " } ?? ""
    let text =
      "\(source.newline)\(indentation)  \(word)var interceptors: Interceptors? { nil }\(source.newline)"
    let head = source.tokens[declaration].range.lowerBound..<at
    return Finding(
      head,
      in: source,
      isCertain ? Edit(range: at..<at, pieces: [.text(text)]) : nil,
      "a provider says which interceptors it has"
    )
  }

  private func declaresInterceptors(_ open: Int) -> Bool {
    ownTokens(open).contains { index in
      source.isToken("interceptors", at: index)
        && (source.isToken("var", at: index - 1) || source.isToken("let", at: index - 1))
    }
  }

  /// Methods of a factory that the service does not have: nothing calls them.
  private func stale(_ declaration: Int, _ open: Int) -> [Finding] {
    guard
      let methods = inherited(declaration..<open).lazy.compactMap({ names.methods(ofFactory: source[$0]) })
        .first
    else { return [] }
    return ownTokens(open).compactMap { index in
      guard source.isToken("func", at: index), source.isWord(index + 1), isFactory(source[index + 1]),
        !source.isToken("private", at: index - 1), !source.isToken("fileprivate", at: index - 1),
        !methods.contains(Array(source[index + 1]))
      else { return nil }
      return Finding(
        source.tokens[index].range.lowerBound..<source.tokens[index + 1].range.upperBound,
        in: source,
        nil,
        "The service has no such method: nothing calls this."
      )
    }
  }

  /// Whether a name has that of a method between the words of a factory's.
  private func isFactory(_ name: ArraySlice<UInt8>) -> Bool {
    name.starts(with: "make".utf8) && name.suffix(12).elementsEqual("Interceptors".utf8)
      && name.count > "makeInterceptors".utf8.count
  }
}
