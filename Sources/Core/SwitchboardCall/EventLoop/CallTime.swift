/// The clock of calls, which tests replace.
package protocol CallTime: Sendable {
  var now: ContinuousClock.Instant { get }

  /// Sleeps until `time`. Throws if the task is cancelled.
  func sleep(until time: ContinuousClock.Instant) async throws

  /// The same for code on a loop, which may use the loop's timers.
  func sleep(until time: ContinuousClock.Instant, on loop: any EventLoop) async throws
}

/// The system's clock.
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

/// An event loop with timers. Calls must not depend on `Task.sleep`, for which Dispatch opens file descriptors: it ends
/// the process if none are left.
package protocol TimedEventLoop: EventLoop {
  /// Sleeps for `duration` and at most a millisecond longer, or precisely, which takes more CPU time. Throws if the
  /// task is cancelled or the loop has ended.
  func sleep(for duration: Duration, isPrecise: Bool) async throws
}

extension TimedEventLoop {
  package func sleep(for duration: Duration) async throws { try await sleep(for: duration, isPrecise: false) }
}

/// The time at which a call must end. An object, because the layout of the standard library's instants is known only at
/// run time, and so would be the layout of each request that contained one.
@usableFromInline
package final class CallDeadline: Sendable {
  package let time: ContinuousClock.Instant
  /// How long before it the deadline was made; in nanoseconds, which take no more memory.
  private let nanoseconds: Int64

  fileprivate init(from start: ContinuousClock.Instant, after timeout: Duration) {
    time = start.advanced(by: timeout)
    let (seconds, attoseconds) = timeout.components
    nanoseconds = seconds < 1 << 33 ? seconds * 1_000_000_000 + attoseconds / 1_000_000_000 : .max
  }

  /// The time that the call had when the deadline was made.
  package var timeout: Duration { .nanoseconds(nanoseconds) }

  /// The earlier of two deadlines; `nil` is none.
  package static func earlier(_ one: CallDeadline?, _ other: CallDeadline?) -> CallDeadline? {
    guard let one, let other else { return one ?? other }
    return other.time < one.time ? other : one
  }

  /// How long the call may still take, by the clock that made the deadline.
  package func timeLeft(by clock: some CallTime) -> Duration { clock.now.duration(to: time) }
}

extension CallTime {
  /// Returns the deadline of a call with this timeout. Every deadline, on the client or the server, is made here.
  package func deadline(after timeout: Duration) -> CallDeadline {
    // A sum beyond the range of an instant would trap.
    CallDeadline(from: now, after: min(max(timeout, .zero), .seconds(1 << 40)))
  }

  package func sleep(until time: ContinuousClock.Instant, on loop: any EventLoop) async throws {
    try await sleep(until: time)
  }

  /// Runs `action` on the loop at `time`, unless the task is cancelled first.
  package func alarm(
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

/// The engine's sources of time and randomness.
package struct CallEnvironment: Sendable {
  package var time: any CallTime
  /// A random number from 0 to 1.
  package var random: @Sendable () -> Double = { Double.random(in: 0...1) }

  package init(time: any CallTime = SystemTime()) { self.time = time }
}
