// unsafe: the bytes of a request, which a transport lends until the handler suspends

/// Calls of one method, which share a task on their loop.
@usableFromInline package protocol ServedCalls: AnyObject {
  /// The next call, whose context the task has, and its request until the handler suspends; `nil` if there is none.
  func next() -> (stream: any ServerStream, request: UnsafeRawBufferPointer)?

  /// Observes the call if its handler suspends. The caller keeps the observer as long as the handler runs.
  func observe(with observer: any ServerStreamObserver)
}
