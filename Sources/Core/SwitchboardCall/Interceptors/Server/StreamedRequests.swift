/// Passes streamed requests from the chain to their handler.
@usableFromInline
final class StreamedRequests<Request: Sendable> {
  @usableFromInline typealias Take = (StreamedRequests, GRPCServerRequestPart<Request>) -> Void

  /// Requests for the handler; a new queue for each handler, if an interceptor repeats the call.
  @usableFromInline private(set) var queue: PartQueue<Request>
  /// The queues of earlier handlers, which may still wait for requests.
  @usableFromInline private(set) var earlier: [PartQueue<Request>] = []
  /// Whether a handler reads the queue, and so learns of a failure.
  @usableFromInline var hasHandler = false
  /// Whether the client has ended its requests, and that has entered the chain.
  var endHasEntered = false
  /// Receives the parts that leave the chain.
  @usableFromInline let take: Take

  @inlinable
  init(_ queue: PartQueue<Request>, _ take: @escaping Take) {
    self.queue = queue
    self.take = take
  }

  /// Whether the handler waits for the end of the requests, which is still in the chain.
  var endIsHeld: Bool { endHasEntered && queue.isAwaited }

  /// Gives the next handler its own queue.
  @usableFromInline
  func replaceQueue(with next: PartQueue<Request>) {
    earlier.append(queue)
    queue = next
  }

  /// Ends the queues of all handlers. A queue that never ended would retain its handler, and so the call, forever.
  @usableFromInline
  func callEnded() {
    for queue in earlier { queue.finish(.callEnded) }
    queue.finish(.callEnded)
  }
}
