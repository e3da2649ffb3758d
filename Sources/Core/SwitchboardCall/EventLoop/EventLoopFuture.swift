/// A result that is set once and delivered on an event loop.
public final class EventLoopFuture<Value: Sendable>: Sendable {
  private typealias Callback = @Sendable (Result<Value, any Error>) -> Void

  private enum State: Sendable {
    case pending([Callback])
    case complete(Result<Value, any Error>)
  }

  /// The loop that runs callbacks.
  let eventLoop: any EventLoop
  private let state = Locked(State.pending([]))

  @usableFromInline
  init(on eventLoop: any EventLoop) { self.eventLoop = eventLoop }

  /// Calls `callback` with the result, on the event loop. If the result is set on that loop, the callback runs
  /// immediately, before any other work there.
  public func whenComplete(_ callback: @escaping @Sendable (Result<Value, any Error>) -> Void) {
    let result: Result<Value, any Error>? = state.withLock { state in
      switch state {
      case .pending(let callbacks):
        state = .pending(callbacks + [callback])
        return nil
      case .complete(let result):
        return result
      }
    }
    if let result { onLoop { callback(result) } }
  }

  /// Calls `callback` with the error if the future fails, on the event loop.
  public func whenFailure(_ callback: @escaping @Sendable (any Error) -> Void) {
    whenComplete { if case .failure(let error) = $0 { callback(error) } }
  }

  /// Waits for the result.
  nonisolated(nonsending) public func get() async throws -> Value {
    try await withCheckedThrowingContinuation { continuation in
      whenComplete { continuation.resume(with: $0) }
    }
  }

  /// Sets the result. Later results are ignored.
  @usableFromInline
  func complete(_ result: Result<Value, any Error>) {
    let callbacks: [Callback] = state.withLock { state in
      guard case .pending(let callbacks) = state else { return [] }
      state = .complete(result)
      return callbacks
    }
    guard !callbacks.isEmpty else { return }
    onLoop { for callback in callbacks { callback(result) } }
  }

  private func onLoop(_ body: @escaping @Sendable () -> Void) {
    if eventLoop.inEventLoop { body() } else { eventLoop.execute(body) }
  }
}
