/// A way to call a method over HTTP, given in code instead of by a `google.api.http` annotation in a `.proto` file.
///
///     let rule = HTTPRule("shop.Books.GetBook", "GET", "/v1/{name=shelves/*/books/*}")
///
/// The rules that are given for a method replace its annotation.
public struct HTTPRule: Hashable, Sendable {
  /// The full name of the method: `shop.Books.GetBook`.
  public var selector: String
  /// The HTTP method; `*` for all.
  public var method: String
  /// The template of the path.
  public var path: String
  /// The field of the request that the body holds, or `*` for all fields that the path does not bind.
  public var body: String
  /// The field of the response that the body holds; empty for the whole response.
  public var responseBody: String

  /// Calls the method `selector` by `method` at `path`.
  public init(
    _ selector: String,
    _ method: String,
    _ path: String,
    body: String = "",
    responseBody: String = ""
  ) {
    self.selector = selector
    self.method = method
    self.path = path
    self.body = body
    self.responseBody = responseBody
  }
}

/// The error for a rule that is invalid or conflicts with another.
public struct HTTPRuleError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The reason, which names the method and the rule.
  public let description: String

  package init(_ description: String) { self.description = description }

  /// The error for a rule that is wrong by itself, with the reason.
  package init(_ name: String, _ binding: HTTPBinding, _ reason: String) {
    self.init("\(Self.shown(name, binding)): \(reason)")
  }

  /// What is allowed by a rule, and hardly meant.
  static func doubt(_ name: String, _ binding: HTTPBinding) -> String? {
    binding.doubt.map { "\(shown(name, binding)): \($0)" }
  }

  /// The error for two rules that have the same method and path.
  package static func conflict(
    _ one: (name: String, binding: HTTPBinding),
    _ other: (name: String, binding: HTTPBinding)
  ) -> HTTPRuleError {
    let both = "\(shown(one.name, one.binding)) and \(shown(other.name, other.binding))"
    return HTTPRuleError("\(both) have the same path")
  }

  private static func shown(_ name: String, _ binding: HTTPBinding) -> String {
    "\(name) (\(binding.method ?? "*") \(binding.path))"
  }
}
