/// What the engine knows of time, to be replaced in tests.
package protocol CallTime: Sendable {
  /// The time.
  var now: ContinuousClock.Instant { get }

  /// Returns at that time, or throws when the task is cancelled.
  func sleep(until time: ContinuousClock.Instant) async throws

  /// The same, for what runs on a loop and may use its timers.
  func sleep(until time: ContinuousClock.Instant, on loop: any EventLoop) async throws
}

/// The time that passes.
package struct SystemTime: CallTime {
  package init() {}

  package var now: ContinuousClock.Instant { .now }

  package func sleep(until time: ContinuousClock.Instant) async throws {
    try await Task.sleep(until: time, clock: .continuous)
  }

  package func sleep(until time: ContinuousClock.Instant, on loop: any EventLoop) async throws {
    guard let loop = loop as? any TimedEventLoop else { return try await sleep(until: time) }
    do {
      try await loop.sleep(for: now.duration(to: time))
    } catch {
      try Task.checkCancellation()
      // The loop has ended, and its timers with it.
      try await sleep(until: time)
    }
  }
}

/// An event loop with timers of its own. `Task.sleep` has Dispatch open descriptors, and end the process where there are
/// none: calls must not need it.
package protocol TimedEventLoop: EventLoop {
  /// Returns after that time, or throws: when the task is cancelled, or where the loop has ended.
  func sleep(for duration: Duration) async throws
}

extension CallTime {
  /// When a call that may take this long from now must end. Every deadline of a client's call is made here, once.
  func deadline(after timeout: Duration) -> CallDeadline {
    // A sum that no instant can hold would trap.
    CallDeadline(now.advanced(by: min(max(timeout, .zero), .seconds(1 << 40))))
  }

  package func sleep(until time: ContinuousClock.Instant, on loop: any EventLoop) async throws {
    try await sleep(until: time)
  }

  /// Does something at a time, on the loop, unless the task is cancelled before.
  func alarm(
    at time: ContinuousClock.Instant,
    on loop: any EventLoop,
    _ action: @escaping @Sendable () -> Void
  ) -> Task<Void, Never> {
    Task(executorPreference: loop) {
      guard (try? await sleep(until: time, on: loop)) != nil, !Task.isCancelled else { return }
      action()
    }
  }
}

/// What the engine takes from outside of a call: time and chance.
package struct CallEnvironment: Sendable {
  package var time: any CallTime = SystemTime()
  /// A number from 0 to 1.
  package var random: @Sendable () -> Double = { Double.random(in: 0...1) }

  package init() {}
}
