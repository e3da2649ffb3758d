// unsafe: the bytes of a request, which a transport lends until the handler suspends

/// Calls of one method, which share a task on their loop.
@usableFromInline package protocol ServedCalls: AnyObject {
  /// The next call, and its request until the handler suspends; `nil` if there is none.
  func next() -> (stream: any ServerStream, request: UnsafeRawBufferPointer)?
}
