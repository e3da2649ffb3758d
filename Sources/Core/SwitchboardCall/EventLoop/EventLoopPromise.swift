/// Completes a future once. A promise that is released before it completes fails, so that nothing waits for it forever.
///
/// ```swift
/// let promise = context.eventLoop.makePromise(of: Void.self)
/// promise.futureResult.whenFailure { print("not sent: \($0)") }
/// context.send(part, promise: promise)
/// ```
public final class EventLoopPromise<Value: Sendable>: Sendable {
  /// The future that the promise completes.
  public let futureResult: EventLoopFuture<Value>

  /// A promise whose future calls back on this loop.
  package init(on eventLoop: any EventLoop) {
    futureResult = EventLoopFuture(on: eventLoop)
  }

  deinit { fail(GRPCStatus.droppedPromise) }

  /// Completes the future with a value.
  public func succeed(_ value: Value) { completeWith(.success(value)) }

  /// Completes the future with an error.
  public func fail(_ error: any Error) { completeWith(.failure(error)) }

  /// Completes the future. Later completions are ignored.
  public func completeWith(_ result: Result<Value, any Error>) { futureResult.complete(result) }
}

extension EventLoopPromise where Value == Void {
  /// Completes the future.
  public func succeed() { succeed(()) }
}

extension EventLoop {
  /// A promise whose future calls back on this loop.
  public func makePromise<Value: Sendable>(of type: Value.Type = Value.self) -> EventLoopPromise<Value> {
    EventLoopPromise(on: self)
  }
}

extension GRPCStatus {
  static let droppedPromise = GRPCStatus(
    code: .cancelled,
    message: "the promise was released before it completed: an interceptor dropped its part"
  )
}
