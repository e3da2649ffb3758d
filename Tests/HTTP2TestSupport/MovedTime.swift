import SwitchboardHTTP2

extension Loop {
  /// Moves the loop's clock, and returns once what fell due has run.
  package func advance(by duration: Duration) async {
    await onLoop { self.advanceClock(by: duration) }
    // What fell due runs first in the next turn.
    await onLoop {}
  }

  /// Runs something on the loop.
  package func onLoop<Result: Sendable>(_ body: @escaping @Sendable () -> Result) async -> Result {
    await withCheckedContinuation { continuation in
      execute { continuation.resume(returning: body()) }
    }
  }

  /// Returns once something holds on the loop, which other threads bring about; or when the test is given up.
  package func until(_ condition: @escaping @Sendable () -> Bool) async {
    while !Task.isCancelled, await !onLoop(condition) { await Task.yield() }
  }
}
