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

  /// Parses a rule of a method.
  package init(_ rule: RuleText, of name: String) throws(RuleMistake) {
    let verb = rule.method ?? ""
    guard !verb.isEmpty, verb.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else {
      throw RuleMistake("\(name): \"\(verb)\" is not an HTTP method")
    }
    if let meant = UsualHTTPMethod.inCapitals(verb) {
      throw RuleMistake("\(name): \"\(verb)\" is not a method of HTTP, but \(meant) is")
    }
    do throws(RuleMistake) {
      template = try PathTemplate(rule.path)
    } catch {
      throw RuleMistake("\(name): \(error)")
    }
    method = verb == "*" ? nil : verb
    path = rule.path
    body = rule.body.isEmpty ? .none : rule.body == "*" ? .whole : .field(rule.body)
    responseBody = rule.responseBody.isEmpty ? nil : rule.responseBody
    if case .field(let field) = body, template.variables.contains(where: { $0.fieldPath == [field] }) {
      throw RuleMistake("\(name): the path and the body are both for the field \(field.excerpt)")
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
