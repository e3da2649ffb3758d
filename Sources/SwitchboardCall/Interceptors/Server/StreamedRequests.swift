/// How a handler that takes a stream of requests gets them from the chain.
@usableFromInline
final class StreamedRequests<Request: Sendable> {
  @usableFromInline typealias Take = (StreamedRequests, GRPCServerRequestPart<Request>) -> Void

  /// Requests on their way to the handler; new ones for each handler, where an interceptor sends the call again.
  @usableFromInline var queue: PartQueue<Request>
  /// Whether a handler has the queue, and learns from it of a failure.
  @usableFromInline var hasHandler = false
  /// Takes what comes out of the chain.
  @usableFromInline let take: Take

  @inlinable
  init(_ queue: PartQueue<Request>, _ take: @escaping Take) {
    self.queue = queue
    self.take = take
  }
}
