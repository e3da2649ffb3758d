extension GRPCStatus {
  /// The seventeen codes that gRPC defines; the raw value is the one on the wire.
  @frozen
  public enum Code: Int, Sendable, CaseIterable {
    case ok = 0
    case cancelled = 1
    case unknown = 2
    case invalidArgument = 3
    case deadlineExceeded = 4
    case notFound = 5
    case alreadyExists = 6
    case permissionDenied = 7
    case resourceExhausted = 8
    case failedPrecondition = 9
    case aborted = 10
    case outOfRange = 11
    case unimplemented = 12
    case internalError = 13
    case unavailable = 14
    case dataLoss = 15
    case unauthenticated = 16
  }
}

extension GRPCStatus.Code: CustomStringConvertible {
  public var description: String { "\(name) (\(rawValue))" }

  private var name: String {
    switch self {
    case .ok: "ok"
    case .cancelled: "cancelled"
    case .unknown: "unknown"
    case .invalidArgument: "invalid argument"
    case .deadlineExceeded: "deadline exceeded"
    case .notFound: "not found"
    case .alreadyExists: "already exists"
    case .permissionDenied: "permission denied"
    case .resourceExhausted: "resource exhausted"
    case .failedPrecondition: "failed precondition"
    case .aborted: "aborted"
    case .outOfRange: "out of range"
    case .unimplemented: "unimplemented"
    case .internalError: "internal error"
    case .unavailable: "unavailable"
    case .dataLoss: "data loss"
    case .unauthenticated: "unauthenticated"
    }
  }
}

extension GRPCStatus.Code {
  /// The code that the gRPC specification gives to an HTTP status that came without a `grpc-status`.
  public init(httpStatus: Int) {
    switch httpStatus {
    case 400: self = .internalError
    case 401: self = .unauthenticated
    case 403: self = .permissionDenied
    case 404: self = .unimplemented
    case 429, 502, 503, 504: self = .unavailable
    default: self = .unknown
    }
  }

  /// The code that the gRPC specification gives to an HTTP/2 error code that ended a stream.
  public init(http2Error: UInt32) {
    switch http2Error {
    case 0x7: self = .unavailable  // REFUSED_STREAM: nothing was processed
    case 0x8: self = .cancelled  // CANCEL
    case 0xb: self = .resourceExhausted  // ENHANCE_YOUR_CALM
    case 0xc: self = .permissionDenied  // INADEQUATE_SECURITY
    default: self = .internalError
    }
  }
}
