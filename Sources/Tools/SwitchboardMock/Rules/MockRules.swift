import Switchboard
import SwitchboardProtobuf
import SwitchboardText

/// The rules of a file, by method.
package struct MockRules: Sendable {
  static let limit = 100_000

  private let rules: [ExactText: MethodRules]
  /// How often each rule may still answer.
  private let left: TimesLeft

  private final class TimesLeft: Sendable {
    let counts = Locked<[ExactText: [Int: Int]]>([:])
  }

  package var isEmpty: Bool { rules.isEmpty }

  /// Creates an empty set of rules.
  package init() {
    rules = [:]
    left = TimesLeft()
  }

  /// Parses rules in JSON or YAML for the methods of a schema.
  package init(_ text: String, _ schema: MockSchema) throws(RuleError) {
    let document = try DocumentReader.read(text)
    if document == .null { throw RuleError("the file is empty: 'rules:' and a list of them are expected") }
    if case .list = document { throw RuleError("the list of rules needs a line 'rules:' above it") }
    let file = try DocumentMembers(document, "the file")
    try file.check(["rules"])
    guard case .list(let documents)? = file["rules"] else {
      throw RuleError("the file has no list of 'rules'")
    }
    guard documents.count <= Self.limit else { throw RuleError("there are more than \(Self.limit) rules") }
    var rules: [ExactText: MethodRules] = [:]
    for (index, document) in documents.enumerated() {
      do throws(RuleError) {
        guard let name = try DocumentMembers(document, "a rule").text("method") else {
          throw RuleError("it names no method")
        }
        let methods = schema.methods(matching: name)
        guard !methods.isEmpty else {
          let known = schema.methods(matching: "*").prefix(20).map(\.path).joined(separator: ", ")
          throw RuleError("there is no method '\(name.excerpt)'; there are \(known)")
        }
        var earlier: Int? = index
        for method in methods {
          let rule = try MockRule(document, of: method, schema.jsonOptions)
          let other = rules[ExactText(method.path), default: MethodRules()].append(
            rule,
            number: index,
            of: method
          )
          // It is of use if it is for one method.
          earlier = other.flatMap { number in earlier.map { min($0, number) } }
        }
        if let earlier {
          throw RuleError("no call gets here: rule \(earlier + 1) answers all that match")
        }
      } catch {
        throw RuleError("rule \(index + 1): \(error.description)")
      }
    }
    self.rules = rules
    left = TimesLeft()
  }

  /// The first rule that a request matches.
  func rule(for request: DynamicMessage?, of method: MockMethod) -> MockRule? {
    guard let candidates = rules[method.path] else { return nil }
    for index in candidates.indices(for: request) {
      let rule = candidates.rules[index]
      if let pattern = rule.pattern {
        guard let request, pattern.matches(request) else { continue }
      }
      guard let times = rule.times else { return rule }
      let mayAnswer = left.counts.withLock { counts in
        let rest = counts[method.path]?[index] ?? times
        guard rest > 0 else { return false }
        counts[ExactText(method.path), default: [:]][index] = rest - 1
        return true
      }
      if mayAnswer { return rule }
    }
    return nil
  }
}
