/// The patterns of rules that answer each request that matches them, to find the one that leaves no request for a later rule.
struct AnsweredPatterns: Sendable {
  private typealias Condition = RequestPattern.Condition

  private struct Entry: Sendable {
    let conditions: Set<Condition>
    /// That of the rule in its file.
    let number: Int
  }

  /// Each pattern by one of its conditions, the one that has the fewest others: of many rules for one tenant, each has a
  /// value that no other has.
  private var entries: [Condition: [Entry]] = [:]
  /// The number of a rule without conditions.
  private var unconditional: Int?

  mutating func add(_ pattern: RequestPattern, number: Int) {
    let conditions = pattern.conditions
    guard let rarest = conditions.min(by: { count(of: $0) < count(of: $1) }) else {
      unconditional = unconditional ?? number
      return
    }
    entries[rarest, default: []].append(Entry(conditions: conditions, number: number))
  }

  private func count(of condition: Condition) -> Int { entries[condition]?.count ?? 0 }

  /// The number of the first rule that matches whatever matches this pattern, because it has only conditions of this one.
  func number(covering pattern: RequestPattern) -> Int? {
    let conditions = pattern.conditions
    let covering = conditions.lazy.flatMap { entries[$0] ?? [] }.filter {
      $0.conditions.isSubset(of: conditions)
    }
    return (covering.map(\.number) + (unconditional.map { [$0] } ?? [])).min()
  }
}
