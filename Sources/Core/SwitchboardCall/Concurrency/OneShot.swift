/// A value that is set once, and that any number of tasks can wait for.
@usableFromInline
package final class OneShot<Value: Sendable>: Sendable {
  private struct State: Sendable {
    var result: Result<Value, GRPCStatus>?
    var callbacks: [@Sendable (Result<Value, GRPCStatus>) -> Void] = []
    var waiters: [(ticket: UInt64, continuation: CheckedContinuation<Value, any Error>)] = []
    var nextTicket: UInt64 = 0
    var cancelled: Set<UInt64> = []
  }

  private let state = Locked(State())

  @usableFromInline
  package init() {}

  var isSettled: Bool { state.withLock { $0.result != nil } }

  /// Sets the result. Later results are ignored.
  @usableFromInline
  package func settle(_ result: Result<Value, GRPCStatus>) {
    let (waiters, callbacks) = state.withLock { state in
      guard state.result == nil else { return (State().waiters, State().callbacks) }
      state.result = result
      defer {
        state.waiters = []
        state.callbacks = []
      }
      return (state.waiters, state.callbacks)
    }
    for callback in callbacks { callback(result) }
    for waiter in waiters { waiter.continuation.resume(with: result.mapError { $0 }) }
  }

  /// Calls `callback` with the result, on the thread that sets it; immediately if it is already set.
  package func whenSettled(_ callback: @escaping @Sendable (Result<Value, GRPCStatus>) -> Void) {
    let result = state.withLock { state in
      if state.result == nil { state.callbacks.append(callback) }
      return state.result
    }
    if let result { callback(result) }
  }

  /// Waits for the value. Cancelling a waiting task only ends its wait.
  @usableFromInline
  nonisolated(nonsending) package func value() async throws -> Value {
    let ticket = state.withLock { state in
      state.nextTicket += 1
      return state.nextTicket
    }
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { register($0, ticket) }
    } onCancel: {
      cancel(ticket)
    }
  }

  /// The same for users of a call, whose errors are all statuses.
  package nonisolated(nonsending) func valueOfCall() async throws -> Value {
    do {
      return try await value()
    } catch is CancellationError {
      throw GRPCStatus.waitCancelled
    }
  }

  private func register(_ continuation: CheckedContinuation<Value, any Error>, _ ticket: UInt64) {
    let result: Result<Value, any Error>? = state.withLock { state in
      if let result = state.result { return result.mapError { $0 } }
      if state.cancelled.remove(ticket) != nil { return .failure(CancellationError()) }
      state.waiters.append((ticket, continuation))
      return nil
    }
    if let result { continuation.resume(with: result) }
  }

  private func cancel(_ ticket: UInt64) {
    let waiter: CheckedContinuation<Value, any Error>? = state.withLock { state in
      guard let index = state.waiters.firstIndex(where: { $0.ticket == ticket }) else {
        if state.result == nil { state.cancelled.insert(ticket) }
        return nil
      }
      return state.waiters.remove(at: index).continuation
    }
    waiter?.resume(throwing: CancellationError())
  }
}
