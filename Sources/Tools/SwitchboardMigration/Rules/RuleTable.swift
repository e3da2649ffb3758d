/// The rules of some files, found by the word that they are about.
struct RuleTable: Sendable {
  private var exact: [[UInt8]: [Rule]] = [:]
  private var suffixes: [(suffix: [UInt8], rule: Rule)] = []

  /// Of the rules for the same word, the first that fits counts.
  init(_ rules: [Rule]) {
    for rule in rules {
      switch rule.pattern?.anchor {
      case .exact(let word)?: exact[word, default: []].append(rule)
      case .suffix(let suffix)?: suffixes.append((suffix, rule))
      case nil: continue
      }
    }
  }

  /// The rules that may fit at a word or at a string.
  func rules(for token: ArraySlice<UInt8>) -> [Rule] {
    (exact[Array(token)] ?? [])
      + suffixes.filter { token.count > $0.suffix.count && token.suffix($0.suffix.count) == $0.suffix[...] }
      .map(\.rule)
  }

  /// All rules for the sources of a package that uses grpc-swift 1.
  static let one = RuleTable(first + MessageRules.all)
  /// The same for one that keeps SwiftProtobuf's messages.
  static let oneWithMessages = RuleTable(first)

  private static let first =
    ClientRules.all + OptionRules.all + ServerRules.all + InterceptorRules.all + SecurityRules.all
    + LoggingRules.all + WaitingRules.all

  /// All rules for the sources of a package that uses grpc-swift 2.
  static let two = RuleTable(SecondRules.all)
}
