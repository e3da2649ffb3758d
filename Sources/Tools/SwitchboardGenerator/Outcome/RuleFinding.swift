/// What is wrong with a rule of `google.api.http`, or hardly meant, and where the rule is.
package struct RuleFinding: Hashable, Sendable {
  /// The name of the `.proto`, as in imports.
  package let file: String
  /// `line:column`, counted from 1; `nil` if the request does not say.
  package let place: String?
  package let reason: String

  init(file: String, place: (line: Int32, column: Int32)?, reason: String) {
    self.file = file
    self.place = place.map { "\($0.line):\($0.column)" }
    self.reason = reason
  }

  /// The line for the user, in the form of a compiler's: `path:line:column: error: reason`.
  package func line(_ severity: String, path: String? = nil) -> String {
    "\(path ?? file):\(place.map { "\($0):" } ?? "") \(severity): \(reason)"
  }
}
