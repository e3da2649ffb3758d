/// What rules ask of expressions.
extension SwiftSource {
  /// Whether the tokens are a name, or several with dots between them.
  func isName(_ tokens: Range<Int>) -> Bool {
    !tokens.isEmpty && endOfName(from: tokens.lowerBound) == tokens.upperBound
  }

  /// Whether the tokens are a dictionary literal whose keys are names or strings, and whose values are strings.
  func isDictionaryOfStrings(_ tokens: Range<Int>) -> Bool {
    let end = tokens.upperBound - 1
    guard tokens.count > 2, isToken("[", at: tokens.lowerBound), partner(of: tokens.lowerBound) == end else {
      return false
    }
    var at = tokens.lowerBound + 1
    while at < end {
      guard let colon = endOfString(from: at) ?? endOfName(from: at), isToken(":", at: colon),
        let next = endOfString(from: colon + 1), next == end || isToken(",", at: next)
      else { return false }
      at = next + 1
    }
    return true
  }

  private func endOfName(from start: Int) -> Int? {
    guard isWord(start) else { return nil }
    var end = start + 1
    while isToken(".", at: end), isWord(end + 1) { end += 2 }
    return end
  }

  /// The end of a string literal without `#`, with its interpolations.
  private func endOfString(from start: Int) -> Int? {
    guard isText(start), self[start].first == UInt8(ascii: "\"") else { return nil }
    var end = start + 1
    while self[end - 1].last == UInt8(ascii: "\\"), isToken("(", at: end), let close = partner(of: end),
      isText(close + 1)
    {
      end = close + 2
    }
    return end
  }

  private func isText(_ index: Int) -> Bool { tokens.indices.contains(index) && tokens[index].kind == .text }
}
