/// Where a file has interceptors of grpc-swift 2: types that conform to its protocols, the extensions of these types and of
/// the protocols, and functions named `intercept`.
struct InterceptorCode {
  private static let protocols = ["ClientInterceptor", "ServerInterceptor"].map { Array($0.utf8) }
  private static let types = Set(["struct", "class", "enum", "actor", "extension"].map { Array($0.utf8) })
  private static let members = Set(["func", "var", "let", "subscript"].map { Array($0.utf8) })
  /// What is before the brace of a type, and before and after the parameters of a function, is not longer.
  private static let longestHead = 100

  private struct Head {
    let name: [UInt8]
    let isOfInterceptor: Bool
    let open: Int
  }

  /// For each token of a file, whether it is in an interceptor.
  static func tokens(in source: SwiftSource) -> [Bool] {
    let heads = source.tokens.indices.compactMap { head(from: $0, in: source) }
    let names = Set(heads.filter(\.isOfInterceptor).map(\.name))
    var bodies = heads.filter { $0.isOfInterceptor || names.contains($0.name) }
      .map { $0.open..<(source.partner(of: $0.open) ?? source.tokens.count) }
    bodies += source.tokens.indices.compactMap { function(from: $0, in: source) }
    // How many bodies begin and end before a token, because they may be in each other.
    var changes = [Int](repeating: 0, count: source.tokens.count + 1)
    for body in bodies {
      changes[body.lowerBound] += 1
      changes[body.upperBound] -= 1
    }
    var depth = 0
    return source.tokens.indices.map { index in
      depth += changes[index]
      return depth > 0
    }
  }

  /// What a type or an extension begins with.
  private static func head(from index: Int, in source: SwiftSource) -> Head? {
    guard source.isWord(index), types.contains(Array(source[index])), source.isWord(index + 1),
      !members.contains(Array(source[index + 1]))
    else { return nil }
    let name = source.lastWord(ofNameAt: index + 1)
    var isOfInterceptor = false
    for at in (index + 1..<source.tokens.count).prefix(longestHead) {
      if source.isToken("{", at: at) {
        return Head(name: Array(source[name]), isOfInterceptor: isOfInterceptor, open: at)
      }
      let ends = "};".utf8.contains(source[at].first ?? 0)
      if ends || at > name && types.contains(Array(source[at])) { return nil }
      isOfInterceptor = isOfInterceptor || protocols.contains { source.isToken($0, at: at) }
    }
    return nil
  }

  /// The function `intercept` that begins at a token, with its parameters, its result and its body.
  private static func function(from index: Int, in source: SwiftSource) -> Range<Int>? {
    guard source.isToken("func", at: index), source.isToken("intercept", at: index + 1),
      let parameters = first(["("], from: index + 2, in: source), let close = source.partner(of: parameters)
    else { return nil }
    let next = first(["{", "}", "func", "var", "let"], from: close, in: source) ?? close
    return index..<(source.isToken("{", at: next) ? source.partner(of: next) ?? next : next)
  }

  private static func first(_ texts: [String], from start: Int, in source: SwiftSource) -> Int? {
    (start..<source.tokens.count).prefix(longestHead).first { index in
      texts.contains { source.isToken($0, at: index) }
    }
  }
}
