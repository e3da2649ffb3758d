import SwitchboardNetwork
import SwitchboardTransport

extension Loop {
  /// Advances the loop's clock, and returns once the timers that became due have run.
  package func advance(by duration: Duration) async {
    await onLoop {
      self.advanceClock(by: duration)
      // Not in the next turn: work from other threads can keep this one going for a millisecond.
      self.runTimers()
    }
  }

  /// Advances the loop's clock during `body`, again and again, since a timer may be set only after the first time.
  package func advancing<Result: Sendable>(
    by duration: Duration,
    atMost times: Int = .max,
    during body: () async throws -> Result
  ) async rethrows -> Result {
    let passing = Task {
      for _ in 0..<times {
        guard !Task.isCancelled else { return }
        await advance(by: duration)
        await Task.yield()
      }
    }
    defer { passing.cancel() }
    return try await body()
  }

  /// Runs `body` on the loop.
  package func onLoop<Result: Sendable>(_ body: @escaping @Sendable () -> Result) async -> Result {
    await withCheckedContinuation { continuation in
      execute { continuation.resume(returning: body()) }
    }
  }

  /// Returns once a condition that other threads bring about holds on the loop, or when the test is cancelled.
  package func until(_ condition: @escaping @Sendable () -> Bool) async {
    while !Task.isCancelled, await !onLoop(condition) { await Task.yield() }
  }
}
