extension GRPCStatus {
  @usableFromInline
  package static let callEnded = GRPCStatus(
    code: .cancelled,
    message: "the call had ended before the part was sent"
  )

  package static let deadlinePassed = GRPCStatus(
    code: .deadlineExceeded,
    message: "the deadline of the call has passed",
    origin: .library
  )

  @usableFromInline
  package static let tooManyMessages = GRPCStatus(
    code: .internalError,
    message: "the call takes one message but received several"
  )

  /// Caused by an interceptor on the server.
  static let lateMetadata = GRPCStatus(
    code: .internalError,
    message: "interceptors: the metadata was sent after a message"
  )

  @usableFromInline
  package static let missingRequest = GRPCStatus(
    code: .internalError,
    message: "the requests ended without a message"
  )
}
