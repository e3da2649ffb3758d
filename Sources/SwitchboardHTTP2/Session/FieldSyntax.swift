import CNghttp2
import SwitchboardCall

/// What HTTP allows in a field's name and value.
enum FieldSyntax {
  static func isName(_ name: UnsafeBufferPointer<UInt8>) -> Bool {
    !name.isEmpty && nghttp2_check_header_name(name.baseAddress, name.count) != 0
  }

  static func isValue(_ value: UnsafeBufferPointer<UInt8>) -> Bool {
    nghttp2_check_header_value(value.baseAddress, value.count) != 0
  }

  /// Without spaces at its ends too, for which other peers end the stream.
  static func isStrictValue(_ value: UnsafeBufferPointer<UInt8>) -> Bool {
    nghttp2_check_header_value_rfc9113(value.baseAddress, value.count) != 0
  }
}

/// Names that the library itself writes: where a user's metadata has them they are left out, so that what came with one call
/// can be sent on with another.
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

extension HPACKHeaders {
  /// Whether each field may travel as a user's metadata, or is left out because its name is the library's: what HTTP does
  /// not allow would make the peer refuse the whole call, and must not be lost in silence. Not `nil`: the first that may
  /// not, as the failure of its call.
  var failureToSend: GRPCStatus? {
    for index in 0..<fieldCount {
      let failure: GRPCStatus? = withField(at: index) { name, value in
        if name.first == UInt8(ascii: ":") { return nil }
        guard FieldSyntax.isName(name) else { return .metadata(name, "is not a name that HTTP allows") }
        guard FieldSyntax.isStrictValue(value) else {
          return .metadata(name, "has a value that HTTP does not allow")
        }
        return nil
      }
      if let failure { return failure }
    }
    return nil
  }
}

extension GRPCStatus {
  private static let longestName = 100

  fileprivate static func metadata(_ name: UnsafeBufferPointer<UInt8>, _ what: String) -> GRPCStatus {
    let shown = String(decoding: name.prefix(longestName), as: UTF8.self).debugDescription
    return GRPCStatus(
      code: .internalError,
      message: "the metadata \(shown)\(name.count > longestName ? "…" : "") \(what)",
      origin: .user
    )
  }
}
