/// Why nothing was generated, in words for the user.
public struct GeneratorError: Error, Hashable, Sendable, CustomStringConvertible {
  /// What is wrong and, for an option, what would be accepted.
  public let description: String

  /// An error with a message that is ready for the user.
  public init(_ description: String) { self.description = description }
}
