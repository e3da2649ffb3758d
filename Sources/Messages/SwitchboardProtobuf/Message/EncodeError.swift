/// The error of encoding a message.
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

  /// The names of the fields that lead to a missing one, outermost first; empty for other errors.
  public var path: [String]

  /// An error without a path.
  public init(_ reason: Reason) { self.init(reason, at: []) }

  /// An error in the last field of a path.
  init(_ reason: Reason, at path: [String]) {
    self.reason = reason
    self.path = path
  }
}

extension EncodeError: CustomStringConvertible {
  /// The path, if there is one, and the reason: `Order.id: missing required field`. The middle of a long path is left
  /// out.
  public var description: String { path.isEmpty ? reason.description : "\(path.asFieldPath): \(reason)" }
}

extension EncodeError.Reason: CustomStringConvertible {
  /// The reason in words.
  public var description: String {
    switch self {
    case .missingRequiredField: "missing required field"
    case .tooLarge: "message larger than 2 GiB"
    case .destinationTooSmall: "destination too small for the message"
    case .unrepresentable(let text): text
    }
  }
}
