extension GRPCStatus {
  @usableFromInline
  package static let callEnded = GRPCStatus(
    code: .cancelled,
    message: "the call had ended before the part was sent"
  )

  /// A task was cancelled that waited for a part of a call, or for room to send. That is not the end of the call.
  @usableFromInline
  package static let waitCancelled = GRPCStatus(
    code: .cancelled,
    message: "the task that waited was cancelled; its call goes on until it ends, is cancelled or is released"
  )

  /// A part of the call has left the closure with which the call ends.
  package static let leftScope = GRPCStatus(
    code: .cancelled,
    message:
      "the call has ended with the closure that it was passed to; what uses the call has to be in the closure"
  )
  /// Nothing has kept the call object, of which a part is still in use.
  package static let callObjectReleased = GRPCStatus(
    code: .cancelled,
    message: "the call object was released before its call had ended: "
      + "keep it until its response has arrived, or while you use its streams"
  )

  /// The same of one whose stream of requests had no `finish()`: the server could not tell whether it is complete.
  package static let unfinishedCallReleased = GRPCStatus(
    code: .cancelled,
    message:
      "the call object was released before its call had ended, and without finish() of its requests: keep it while you "
      + "use its streams"
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

  /// Caused by an interceptor on either side.
  static let lateMessage = GRPCStatus(
    code: .internalError,
    message: "interceptors: a message was passed on after the end, and is lost"
  )

  @usableFromInline
  package static let missingRequest = GRPCStatus(
    code: .internalError,
    message: "the requests ended without a message"
  )
}
