/// Why nothing was generated, as a message for the user.
public struct GeneratorError: Error, Hashable, Sendable, CustomStringConvertible {
  /// What is wrong and, for an option, which values it accepts.
  public let description: String
  /// The option with which it began, `Key=Value`, if it is about how options go together.
  package private(set) var option: String?

  /// An error with a complete message for the user.
  public init(_ description: String) { self.description = description }

  init(_ description: String, option: String?) {
    self.init(description)
    self.option = option
  }
}
