import SwitchboardProtobuf
import SwitchboardText

/// The rules of one method. If each rule compares a field, the lookup takes the same time for a hundred thousand rules
/// as for one.
struct MethodRules: Sendable {
  private(set) var rules: [MockRule] = []
  /// The indexes of rules that compare a field, by the first such field and its value.
  private var keyed: [RequestPattern.Key: [Int]] = [:]
  /// The fields in those keys.
  private var names: Set<ExactText> = []
  /// The indexes of all other rules.
  private var unkeyed: [Int] = []
  /// The number in the file of the rule that answers all calls, and the rules that answer all requests that match.
  private var answersAll: Int?
  private var answersMatching = AnsweredPatterns()

  /// Appends a rule, which has this number in its file. Returns the number of an earlier one that leaves no call for it.
  mutating func append(_ rule: MockRule, number: Int, of method: MockMethod) -> Int? {
    append(rule)
    if let earlier = answersAll ?? rule.pattern.flatMap({ answersMatching.number(covering: $0) }) {
      return earlier
    }
    guard rule.times == nil else { return nil }
    // A stream of requests that is empty matches no pattern.
    if rule.pattern.map({ $0.isEmpty && method.type != .clientStreaming }) ?? true {
      answersAll = number
    } else if let pattern = rule.pattern {
      answersMatching.add(pattern, number: number)
    }
    return nil
  }

  private mutating func append(_ rule: MockRule) {
    if let key = rule.pattern?.key {
      keyed[key, default: []].append(rules.count)
      _ = names.insert(key.name)
    } else {
      unkeyed.append(rules.count)
    }
    rules.append(rule)
  }

  /// The indexes of the rules that a request may match, in order.
  func indices(for request: DynamicMessage?) -> [Int] {
    guard let request else { return unkeyed }
    let found = names.compactMap { keyed[RequestPattern.Key(name: $0.text, value: request[$0.text])] }
    return found.isEmpty ? unkeyed : (found.joined() + unkeyed).sorted()
  }
}
