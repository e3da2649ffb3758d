/// What the engine knows of time, to be replaced in tests.
package protocol CallTime: Sendable {
  /// The time.
  var now: ContinuousClock.Instant { get }

  /// Returns at that time, or throws when the task is cancelled.
  func sleep(until time: ContinuousClock.Instant) async throws
}

/// The time that passes.
package struct SystemTime: CallTime {
  package init() {}

  package var now: ContinuousClock.Instant { .now }

  package func sleep(until time: ContinuousClock.Instant) async throws {
    try await Task.sleep(until: time, clock: .continuous)
  }
}

extension CallTime {
  /// Does something at a time, on the loop, unless the task is cancelled before.
  func alarm(
    at time: ContinuousClock.Instant,
    on loop: any EventLoop,
    _ action: @escaping @Sendable () -> Void
  ) -> Task<Void, Never> {
    Task(executorPreference: loop) {
      guard (try? await sleep(until: time)) != nil, !Task.isCancelled else { return }
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
