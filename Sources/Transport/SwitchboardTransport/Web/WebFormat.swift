// unsafe: bytes that a stream or a session lends for one call

import SwitchboardCall

/// The encoding of a gRPC-Web call.
enum WebFormat: Sendable {
  case binary
  /// Base64, in both directions.
  case text

  private static let plain: StaticString = "application/grpc-web"
  private static let encoded: StaticString = "application/grpc-web-text"

  /// The format that a content type names, with or without a subtype or parameters.
  init?(contentType: UnsafeBufferPointer<UInt8>) {
    if contentType.isMediaType(Self.plain) {
      self = .binary
    } else if contentType.isMediaType(Self.encoded) {
      self = .text
    } else {
      return nil
    }
  }

  /// The content type of a response.
  func contentType(_ subtype: ContentSubtype) -> String {
    let name = self == .text ? Self.encoded : Self.plain
    return subtype.name.map { "\(name)+\($0)" } ?? "\(name)"
  }
}
