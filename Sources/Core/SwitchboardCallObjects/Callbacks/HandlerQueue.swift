import Dispatch

/// A handler and the queue that calls it.
final class HandlerQueue<Response: Sendable>: Sendable {
  private let handler: any ResponseHandler<Response>
  /// Serial; it targets the handler's queue, which may be concurrent.
  private let queue: DispatchQueue

  init(_ handler: any ResponseHandler<Response>) {
    self.handler = handler
    queue = DispatchQueue(label: "switchboard.responses", target: handler.dispatchQueue)
  }

  /// Calls the handler, and returns when it has returned.
  func notify(_ event: @escaping @Sendable (any ResponseHandler<Response>) -> Void) async {
    await withCheckedContinuation { continuation in
      queue.async {
        event(self.handler)
        continuation.resume()
      }
    }
  }

  /// Calls the handler later, in order.
  func notifyLater(_ event: @escaping @Sendable (any ResponseHandler<Response>) -> Void) {
    queue.async { event(self.handler) }
  }
}
