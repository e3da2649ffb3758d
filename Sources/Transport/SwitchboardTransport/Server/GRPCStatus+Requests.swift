import SwitchboardCall

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
  static let badTimeout = GRPCStatus(
    code: .internalError,
    message: "the request's grpc-timeout is malformed or repeated",
    origin: .peer
  )
  static let badTimeoutOfHTTP = GRPCStatus(
    code: .invalidArgument,
    message: "the request's grpc-timeout is malformed or repeated",
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
  static let unknownEncoding = GRPCStatus(
    code: .unimplemented,
    message: "the request's grpc-encoding is not supported or repeated",
    origin: .library
  )
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
