/// Completes a future, once. Letting go of a promise that was not completed fails it, so that nobody waits
/// for ever.
public final class EventLoopPromise<Value: Sendable>: Sendable {
  /// What the promise completes.
  public let futureResult: EventLoopFuture<Value>

  /// A promise whose future calls back on this loop.
  public init(on eventLoop: any EventLoop) {
    futureResult = EventLoopFuture(on: eventLoop)
  }

  deinit { fail(GRPCStatus.droppedPromise) }

  /// Completes the future with a value.
  public func succeed(_ value: Value) { completeWith(.success(value)) }

  /// Completes the future with an error.
  public func fail(_ error: any Error) { completeWith(.failure(error)) }

  /// The first completion counts; further ones are ignored.
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
    message: "the promise was let go before it completed: an interceptor dropped the part that it came with"
  )
}
