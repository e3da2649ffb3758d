import SwitchboardCall

/// How a call of gRPC-Web travels.
enum WebFormat: Sendable {
  case binary
  /// In base64, both ways.
  case text

  private static let plain: StaticString = "application/grpc-web"
  private static let encoded: StaticString = "application/grpc-web-text"

  /// The format that a content type names, alone or with a subtype or parameters.
  init?(contentType: UnsafeBufferPointer<UInt8>) {
    if contentType.isMediaType(Self.plain) {
      self = .binary
    } else if contentType.isMediaType(Self.encoded) {
      self = .text
    } else {
      return nil
    }
  }

  /// The content type of an answer.
  func contentType(_ subtype: ContentSubtype) -> String {
    let name = self == .text ? Self.encoded : Self.plain
    return subtype.name.map { "\(name)+\($0)" } ?? "\(name)"
  }
}
