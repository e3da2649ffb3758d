import SwitchboardCall
import SwitchboardText

/// Why requests are rejected.
extension GRPCStatus {
  static let missingTrailersSupport = GRPCStatus(
    code: .internalError,
    message: "the request has no header te: trailers",
    origin: .peer
  )
  static let headersTooLarge = GRPCStatus(
    code: .resourceExhausted,
    message: "the request's headers are larger than the server's limit (ServerOptions.maxMetadataSize)",
    origin: .peer
  )
  private static let timeoutIsBad =
    "the request's grpc-timeout is malformed or repeated: it has up to eight digits, and one of the units H, M, S, m, u and "
    + "n, as in 5S or 500m"
  static let badTimeout = GRPCStatus(
    code: .internalError,
    message: timeoutIsBad,
    origin: .peer
  )
  static let badTimeoutOfHTTP = GRPCStatus(
    code: .invalidArgument,
    message: timeoutIsBad,
    origin: .peer
  )
  static func unknownFormat(of method: RPCMethod) -> GRPCStatus {
    let accepted = method.accepts(method.formats.map(\.contentType))
    return GRPCStatus(
      code: .unimplemented,
      message: "the method has no marshaller for the request's content type\(accepted)",
      origin: .library
    )
  }
  /// `name` is empty if there are several.
  static func unknownEncoding(_ name: [UInt8]) -> GRPCStatus {
    let known = MessageCompression.allCases.filter { $0 != .none }.map(\.rawValue).joined(separator: ", ")
    return GRPCStatus(
      code: .unimplemented,
      message: name.isEmpty
        ? "the request's encoding is not supported or repeated"
        : "unknown grpc-encoding \(name.excerpt(50).debugDescription): supported are \(known)",
      origin: .library
    )
  }
}

/// Why calls are ended before their handlers end them.
extension GRPCStatus {
  static let callGone = GRPCStatus(code: .cancelled, message: "the call has ended", origin: .peer)
  static let requestTooSlow = GRPCStatus(
    code: .deadlineExceeded,
    message:
      "the request took too long to arrive: longer than the server waits (ServerOptions.requestTimeout)",
    origin: .peer
  )
  static let requestExpired = GRPCStatus(
    code: .deadlineExceeded,
    message: "the client's deadline had passed when the request arrived",
    origin: .library
  )
  static let responseNotRead = GRPCStatus(
    code: .deadlineExceeded,
    message: "the client did not read the response in time",
    origin: .peer
  )
  static let wrongRequestCount = GRPCStatus(
    code: .unimplemented,
    message: "the method takes exactly one request",
    origin: .peer
  )
  static let unannouncedCompression = GRPCStatus(
    code: .internalError,
    message: "a message is compressed, but no grpc-encoding was announced",
    origin: .peer
  )
}
