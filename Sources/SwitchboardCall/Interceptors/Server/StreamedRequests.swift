/// Brings streamed requests from the chain to their handler.
@usableFromInline
final class StreamedRequests<Request: Sendable> {
  @usableFromInline typealias Take = (StreamedRequests, GRPCServerRequestPart<Request>) -> Void

  /// Requests for the handler; a new queue for each handler, if an interceptor repeats the call.
  @usableFromInline var queue: PartQueue<Request>
  /// Whether a handler reads the queue, and so learns of a failure.
  @usableFromInline var hasHandler = false
  /// Takes what leaves the chain.
  @usableFromInline let take: Take

  @inlinable
  init(_ queue: PartQueue<Request>, _ take: @escaping Take) {
    self.queue = queue
    self.take = take
  }
}
