extension GRPCStatus {
  /// The seventeen codes that gRPC defines, with their values on the wire.
  @frozen
  public enum Code: Int, Sendable, CaseIterable {
    /// Success.
    case ok = 0
    /// The caller, or a task of the handler, cancelled the call.
    case cancelled = 1
    /// An error without further information, such as one that a handler threw.
    case unknown = 2
    /// The request is invalid, regardless of the state of the server.
    case invalidArgument = 3
    /// The deadline passed. The call may have taken effect nevertheless.
    case deadlineExceeded = 4
    /// The requested object does not exist.
    case notFound = 5
    /// The object to create already exists.
    case alreadyExists = 6
    /// The caller is authenticated, but not allowed to make this call.
    case permissionDenied = 7
    /// A resource is exhausted, such as a quota or a limit on size.
    case resourceExhausted = 8
    /// The server is not in the required state; retrying does not help until it is.
    case failedPrecondition = 9
    /// The call conflicts with another; the whole operation may be retried.
    case aborted = 10
    /// The operation goes past a valid range, such as the end of a file.
    case outOfRange = 11
    /// The method or the encoding is not implemented.
    case unimplemented = 12
    /// An invariant was violated.
    case internalError = 13
    /// The server cannot be reached; retrying may help.
    case unavailable = 14
    /// Data was lost or corrupted for good.
    case dataLoss = 15
    /// The caller did not send valid credentials.
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
  private static let specNames: [String] = [
    "OK", "CANCELLED", "UNKNOWN", "INVALID_ARGUMENT", "DEADLINE_EXCEEDED", "NOT_FOUND", "ALREADY_EXISTS",
    "PERMISSION_DENIED", "RESOURCE_EXHAUSTED", "FAILED_PRECONDITION", "ABORTED", "OUT_OF_RANGE",
    "UNIMPLEMENTED", "INTERNAL", "UNAVAILABLE", "DATA_LOSS", "UNAUTHENTICATED",
  ]

  /// The name in gRPC's specification, in capitals.
  package var specName: String { Self.specNames[rawValue] }

  /// The code with this name, which must be in capitals.
  package init?(specName: String) {
    guard let number = Self.specNames.firstIndex(where: { $0.isExactly(specName) }) else { return nil }
    self.init(rawValue: number)
  }

  /// The code that the gRPC specification assigns to an HTTP status without a `grpc-status`.
  package init(httpStatus: Int) {
    switch httpStatus {
    case 400: self = .internalError
    case 401: self = .unauthenticated
    case 403: self = .permissionDenied
    case 404: self = .unimplemented
    case 429, 502, 503, 504: self = .unavailable
    default: self = .unknown
    }
  }

  /// The code that the gRPC specification assigns to an HTTP/2 error code that ended a stream.
  package init(http2Error: UInt32) {
    switch http2Error {
    case 0x7: self = .unavailable  // REFUSED_STREAM: nothing was processed
    case 0x8: self = .cancelled  // CANCEL
    case 0xb: self = .resourceExhausted  // ENHANCE_YOUR_CALM
    case 0xc: self = .permissionDenied  // INADEQUATE_SECURITY
    default: self = .internalError
    }
  }
}

// Names of other libraries, for which the compiler says what to write.
extension GRPCStatus.Code {
  @available(*, unavailable, renamed: "internalError")
  public static var `internal`: Self { .internalError }

  @available(*, unavailable, renamed: "cancelled")
  public static var canceled: Self { .cancelled }
}
