import SwitchboardCall
import SwitchboardText

extension DecodingError {
  /// What is wrong with the message, for the peer that sent it: the place in it, and nothing about the types that were to
  /// be decoded.
  var plainStatus: GRPCStatus {
    let message =
      switch self {
      case .keyNotFound(let key, let context): "\(Self.location(context.codingPath + [key])) is missing"
      case .valueNotFound(_, let context): "\(Self.location(context.codingPath)) is null or missing"
      case .typeMismatch(let type, let context):
        "\(Self.location(context.codingPath)) is not \(Self.kind(of: type))"
      case .dataCorrupted(let context) where context.codingPath.isEmpty:
        "it is not valid JSON, or has a number out of range"
      case .dataCorrupted(let context): "\(Self.location(context.codingPath)) has an invalid value"
      @unknown default: "it does not have the expected form"
      }
    return GRPCStatus(code: .invalidArgument, message: message)
  }

  private static let locationLimit = 200

  /// Such as `items[2].price`.
  private static func location(_ path: [any CodingKey]) -> String {
    var location = ""
    for key in path {
      if let index = key.intValue {
        location += "[\(index)]"
      } else {
        location += location.isEmpty ? key.stringValue : ".\(key.stringValue)"
      }
    }
    guard !location.isEmpty else { return "the message" }
    return location.excerpt(locationLimit)
  }

  private static func kind(of type: any Any.Type) -> String {
    switch type {
    case is String.Type: "a string"
    case is Bool.Type: "true or false"
    case is any Numeric.Type: "a number"
    case is [Any].Type: "a list"
    case is [String: Any].Type: "an object"
    default: "of the expected kind"
    }
  }
}
