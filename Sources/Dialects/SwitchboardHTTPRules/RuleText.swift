/// A rule as it is written: in a `google.api.http` annotation of a `.proto` file, or in code.
package struct RuleText: Hashable, Sendable {
  /// The HTTP method, `*` for all; `nil` if there is no pattern.
  package var method: String?
  package var path: String
  package var body: String
  package var responseBody: String
  /// Further ways to call the method.
  package var additional: [RuleText]

  package init(
    method: String? = nil,
    path: String = "",
    body: String = "",
    responseBody: String = "",
    additional: [RuleText] = []
  ) {
    self.method = method
    self.path = path
    self.body = body
    self.responseBody = responseBody
    self.additional = additional
  }
}

extension RuleText {
  /// The rule of a method, and its additional ones; empty if it has no pattern.
  package func bindings(of method: String) throws(RuleMistake) -> [HTTPBinding] {
    guard self.method != nil else { return [] }
    var bindings = [try HTTPBinding(self, of: method)]
    for other in additional {
      guard other.additional.isEmpty, other.method != nil else {
        throw RuleMistake(
          "\(method): an additional binding has no pattern, or has additional ones itself"
        )
      }
      bindings.append(try HTTPBinding(other, of: method))
    }
    return bindings
  }
}
