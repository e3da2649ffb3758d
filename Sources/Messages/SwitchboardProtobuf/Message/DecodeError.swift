import SwitchboardText

/// The error of decoding a message.
public struct DecodeError: Error, Hashable, Sendable {
  /// The reason, without the position.
  public enum Reason: Hashable, Sendable {
    /// The input ended inside a field, or a length reached past the end of the input.
    case truncated
    /// A varint took more than ten bytes.
    case malformedVarint
    /// A tag with field number zero, a number out of range, or a wire type that does not exist.
    case invalidTag
    /// The end of a group that was not open, or a group that was not closed.
    case mismatchedGroup
    /// A string that is not UTF-8.
    case invalidUTF8
    /// Messages nested deeper than the limit in the options.
    case nestedTooDeep
    /// A `required` field was not set.
    case missingRequiredField
    /// JSON or text that breaks the grammar, or a value that does not fit its field; the text says which.
    case malformed(String)
  }

  /// The reason.
  public var reason: Reason

  /// The names of the fields that led there, outermost first.
  public var path: [String]

  /// An error without a path.
  public init(_ reason: Reason) {
    self.reason = reason
    path = []
  }

  /// An error in the last field of a path.
  init(_ reason: Reason, at path: [String]) {
    self.reason = reason
    self.path = path
  }

  /// The words for a key of a map that would take long to hash.
  static var longRunOfMarks: String {
    "a key of the map has more than \(String.longestRunOfMarks) combining marks in a row"
  }

  /// Adds the field `name` of the enclosing message to the path, or the key of its map, which is cut if it is long.
  func inside(_ name: String) -> DecodeError {
    var error = self
    error.path.insert(name.excerpt, at: 0)
    return error
  }
}

extension DecodeError: CustomStringConvertible {
  /// The path and the reason: `Order.shipping.street: truncated`. The middle of a long path is left out.
  public var description: String { path.isEmpty ? reason.description : "\(path.asFieldPath): \(reason)" }
}

extension [String] {
  /// The names of nested fields as one path, in which a few names at either end of a long one stand for all.
  var asFieldPath: String {
    let (start, end) = (6, 4)
    guard count > start + end + 1 else { return joined(separator: ".") }
    let left = prefix(start).joined(separator: ".")
    return "\(left).(\(count - start - end) more).\(suffix(end).joined(separator: "."))"
  }
}

extension DecodeError.Reason: CustomStringConvertible {
  /// The reason in words.
  public var description: String {
    switch self {
    case .truncated: "truncated"
    case .malformedVarint: "malformed varint"
    case .invalidTag: "invalid tag"
    case .mismatchedGroup: "mismatched group"
    case .invalidUTF8: "invalid UTF-8"
    case .nestedTooDeep: "nested too deep"
    case .missingRequiredField: "missing required field"
    case .malformed(let text): text
    }
  }
}
