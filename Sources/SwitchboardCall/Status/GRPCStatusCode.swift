extension GRPCStatus {
  /// The seventeen codes that gRPC defines; the raw value is the one on the wire.
  @frozen
  public enum Code: Int, Sendable, CaseIterable {
    /// Success.
    case ok = 0
    /// The caller, or a task of the handler's, gave the call up.
    case cancelled = 1
    /// An error that says nothing more about itself, such as one that a handler threw.
    case unknown = 2
    /// The request is wrong, whatever state the server is in.
    case invalidArgument = 3
    /// Time ran out. The call may have had its effect all the same.
    case deadlineExceeded = 4
    /// What was asked for does not exist.
    case notFound = 5
    /// What was to be created exists.
    case alreadyExists = 6
    /// The caller is known, and may not do this.
    case permissionDenied = 7
    /// Something ran out: a quota, or a limit on size.
    case resourceExhausted = 8
    /// The server is not in the state that the call needs; trying again does not help until it is.
    case failedPrecondition = 9
    /// A conflict with another call; the whole operation may be tried again.
    case aborted = 10
    /// Past a valid range, such as the end of a file.
    case outOfRange = 11
    /// There is no such method, or no such encoding.
    case unimplemented = 12
    /// A rule that should always hold was broken.
    case internalError = 13
    /// No server could be reached; trying again may help.
    case unavailable = 14
    /// Data was lost for good.
    case dataLoss = 15
    /// The caller has not said who it is, or not so that it is believed.
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
