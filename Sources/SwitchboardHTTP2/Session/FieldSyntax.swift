import CNghttp2

/// What HTTP allows in a field's name and value.
enum FieldSyntax {
  static func isName(_ name: UnsafeBufferPointer<UInt8>) -> Bool {
    !name.isEmpty && nghttp2_check_header_name(name.baseAddress, name.count) != 0
  }

  static func isValue(_ value: UnsafeBufferPointer<UInt8>) -> Bool {
    nghttp2_check_header_value(value.baseAddress, value.count) != 0
  }
}

/// Names that the library itself writes and a user's metadata may not.
enum ReservedHeaders {
  private static let names: Set<[UInt8]> = Set(
    [
      "te", "content-type", "content-length", "connection", "keep-alive", "proxy-connection", "upgrade",
      "transfer-encoding", "host", "user-agent",
    ].map { Array($0.utf8) }
  )

  /// The one name of gRPC's that handlers send: when to try again.
  private static let pushback = Array("grpc-retry-pushback-ms".utf8)

  static func allow(_ name: UnsafeBufferPointer<UInt8>) -> Bool {
    guard let first = name.first, first != UInt8(ascii: ":") else { return false }
    if name.starts(with: "grpc-".utf8) { return name.elementsEqual(pushback) }
    return !names.contains(Array(name))
  }
}
