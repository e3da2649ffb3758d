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
