import GoogleAPIMessages
import SwitchboardHTTPRules

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

  package init(_ mistake: RuleMistake) { self.init(mistake.description) }

  /// The error for a rule that is wrong by itself, with the reason.
  package init(_ name: String, _ binding: HTTPBinding, _ reason: String) {
    self.init(RuleMistake(name, binding, reason))
  }

  /// The error for two rules that have the same method and path.
  package static func conflict(
    _ one: (name: String, binding: HTTPBinding),
    _ other: (name: String, binding: HTTPBinding)
  ) -> HTTPRuleError {
    HTTPRuleError(RuleMistake.conflict(one, other))
  }
}

extension HTTPBinding {
  /// Parses a rule that is given in code.
  package init(_ rule: HTTPRule) throws(HTTPRuleError) {
    let text = RuleText(
      method: rule.method,
      path: rule.path,
      body: rule.body,
      responseBody: rule.responseBody
    )
    do throws(RuleMistake) { try self.init(text, of: rule.selector) } catch { throw HTTPRuleError(error) }
  }
}

extension RuleText {
  /// An annotation of a `.proto` file.
  init(_ rule: Google_Api_HttpRule) {
    let (method, path): (String?, String) =
      switch rule.pattern {
      case .get(let text): ("GET", text)
      case .put(let text): ("PUT", text)
      case .post(let text): ("POST", text)
      case .delete(let text): ("DELETE", text)
      case .patch(let text): ("PATCH", text)
      case .custom(let pattern): (pattern.kind, pattern.path)
      case nil: (nil, "")
      }
    self.init(
      method: method,
      path: path,
      body: rule.body,
      responseBody: rule.responseBody,
      additional: rule.additionalBindings.map { RuleText($0) }
    )
  }
}
