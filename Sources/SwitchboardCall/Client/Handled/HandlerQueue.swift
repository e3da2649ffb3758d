import Dispatch

/// A handler, and the queue on which it is told.
final class HandlerQueue<Response: Sendable>: Sendable {
  private let handler: any ResponseHandler<Response>
  /// Serial, on top of the handler's, which need not be.
  private let queue: DispatchQueue

  init(_ handler: any ResponseHandler<Response>) {
    self.handler = handler
    queue = DispatchQueue(label: "switchboard.responses", target: handler.dispatchQueue)
  }

  /// Tells the handler, and returns once it is done.
  func tell(_ event: @escaping @Sendable (any ResponseHandler<Response>) -> Void) async {
    await withCheckedContinuation { continuation in
      queue.async {
        event(self.handler)
        continuation.resume()
      }
    }
  }

  /// Tells the handler in its turn.
  func tellLater(_ event: @escaping @Sendable (any ResponseHandler<Response>) -> Void) {
    queue.async { event(self.handler) }
  }
}
