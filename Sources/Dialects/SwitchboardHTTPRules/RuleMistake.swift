/// What is wrong with a rule, or with two rules together. It names the method and the rule.
package struct RuleMistake: Error, Hashable, Sendable, CustomStringConvertible {
  package let description: String

  package init(_ description: String) { self.description = description }

  /// A rule that is wrong by itself, with the reason.
  package init(_ method: String, _ binding: HTTPBinding, _ reason: String) {
    self.init("\(Self.shown(method, binding)): \(reason)")
  }

  /// What is allowed by a rule, and hardly meant.
  package static func doubt(_ method: String, _ binding: HTTPBinding) -> String? {
    binding.doubt.map { "\(shown(method, binding)): \($0)" }
  }

  /// Two rules that have the same method and path.
  package static func conflict(
    _ one: (name: String, binding: HTTPBinding),
    _ other: (name: String, binding: HTTPBinding)
  ) -> RuleMistake {
    RuleMistake("\(shown(one.name, one.binding)) and \(shown(other.name, other.binding)) have the same path")
  }

  private static func shown(_ method: String, _ binding: HTTPBinding) -> String {
    "\(method) (\(binding.method ?? "*") \(binding.path))"
  }
}
