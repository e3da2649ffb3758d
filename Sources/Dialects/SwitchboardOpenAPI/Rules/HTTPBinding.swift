import GoogleAPIMessages
import SwitchboardText

/// A parsed rule: an HTTP method, a path template, and what the bodies contain.
package struct HTTPBinding: Hashable, Sendable {
  /// What the body of a request contains.
  package enum Body: Hashable, Sendable {
    case none
    /// The whole request, except for the fields that the path binds.
    case whole
    case field(String)
  }

  /// `nil` for any method.
  package var method: String?
  package var template: PathTemplate
  /// The template as written, for error messages.
  package var path: String
  package var body: Body
  /// `nil` if the body is the whole response.
  package var responseBody: String?

  package init(_ rule: HTTPRule) throws(HTTPRuleError) {
    guard !rule.method.isEmpty, rule.method.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else {
      throw HTTPRuleError("\(rule.selector): \"\(rule.method)\" is not an HTTP method")
    }
    if let meant = UsualHTTPMethod.inCapitals(rule.method) {
      throw HTTPRuleError("\(rule.selector): \"\(rule.method)\" is not a method of HTTP, but \(meant) is")
    }
    do throws(HTTPRuleError) {
      template = try PathTemplate(rule.path)
    } catch {
      throw HTTPRuleError("\(rule.selector): \(error)")
    }
    method = rule.method == "*" ? nil : rule.method
    path = rule.path
    body = rule.body.isEmpty ? .none : rule.body == "*" ? .whole : .field(rule.body)
    responseBody = rule.responseBody.isEmpty ? nil : rule.responseBody
    if case .field(let name) = body, template.variables.contains(where: { $0.fieldPath == [name] }) {
      throw HTTPRuleError("\(rule.selector): the path and the body are both for the field \(name.excerpt)")
    }
  }
}

extension HTTPBinding {
  /// What is allowed, and hardly meant.
  var doubt: String? {
    guard let method else { return nil }
    if let meant = UsualHTTPMethod.near(method) {
      return "\(method) is no usual method of HTTP: did you mean \(meant)?"
    }
    guard method.utf8.elementsEqual("GET".utf8), body != .none else { return nil }
    return "many clients and proxies send no body with GET: leave it out, and its fields can be in the query"
  }
}

extension HTTPRule {
  /// An annotation and its additional bindings; empty if it has no pattern.
  package static func rules(of rule: Google_Api_HttpRule, for selector: String) throws(HTTPRuleError)
    -> [HTTPRule]
  {
    guard let first = HTTPRule(rule, selector) else { return [] }
    var rules = [first]
    for other in rule.additionalBindings {
      guard other.additionalBindings.isEmpty, let rule = HTTPRule(other, selector) else {
        throw HTTPRuleError(
          "\(selector): an additional binding has no pattern, or has additional ones itself"
        )
      }
      rules.append(rule)
    }
    return rules
  }

  private init?(_ rule: Google_Api_HttpRule, _ selector: String) {
    let (method, path): (String, String)
    switch rule.pattern {
    case .get(let text): (method, path) = ("GET", text)
    case .put(let text): (method, path) = ("PUT", text)
    case .post(let text): (method, path) = ("POST", text)
    case .delete(let text): (method, path) = ("DELETE", text)
    case .patch(let text): (method, path) = ("PATCH", text)
    case .custom(let pattern): (method, path) = (pattern.kind, pattern.path)
    case nil: return nil
    }
    self.init(selector, method, path, body: rule.body, responseBody: rule.responseBody)
  }
}
