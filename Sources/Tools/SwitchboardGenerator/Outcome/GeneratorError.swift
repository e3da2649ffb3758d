/// Why nothing was generated, as a message for the user.
public struct GeneratorError: Error, Hashable, Sendable, CustomStringConvertible {
  /// What is wrong and, for an option, which values it accepts.
  public let description: String
  /// The option with which it began, `Key=Value`, if it is about how options go together.
  package private(set) var option: String?
  /// The mistakes, if it is about those in rules; they are its description.
  package private(set) var findings: [RuleFinding] = []

  /// An error with a complete message for the user.
  public init(_ description: String) { self.description = description }

  init(_ description: String, option: String?) {
    self.init(description)
    self.option = option
  }

  init(_ findings: [RuleFinding]) {
    self.init(findings.map { $0.line("error") }.joined(separator: "\n"))
    self.findings = findings
  }
}
