/// Why a message could not be written.
public struct EncodeError: Error, Hashable, Sendable {
  /// What was wrong.
  public enum Reason: Hashable, Sendable {
    /// A `required` field is not set.
    case missingRequiredField
    /// The message takes more than 2 GiB, the limit of the format.
    case tooLarge
    /// The destination is smaller than the message.
    case destinationTooSmall
    /// The format cannot represent the value; the text says why.
    case unrepresentable(String)
  }

  /// What was wrong.
  public var reason: Reason

  /// An error for `reason`.
  public init(_ reason: Reason) { self.reason = reason }
}

extension EncodeError: CustomStringConvertible {
  /// The reason in words.
  public var description: String {
    switch reason {
    case .missingRequiredField: "missing required field"
    case .tooLarge: "message larger than 2 GiB"
    case .destinationTooSmall: "destination too small for the message"
    case .unrepresentable(let text): text
    }
  }
}
