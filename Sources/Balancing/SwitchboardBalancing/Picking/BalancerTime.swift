import SwitchboardCall

/// The clock and the timers of a channel's loop, which tests replace.
public protocol BalancerTime: Sendable {
  /// The time since a moment in the past that is fixed while the process runs.
  var now: Duration { get }

  /// Runs `action` on the loop after `delay`, unless it is cancelled first. Call on the loop.
  func schedule(after delay: Duration, _ action: @escaping () -> Void) -> any ScheduledAction
}

/// An action that has been scheduled.
public protocol ScheduledAction: AnyObject {
  /// Cancels the action. Has no effect if it has already run.
  func cancel()
}

/// Delays that grow with each failure, with some jitter, as in gRPC's connection backoff specification.
package struct Backoff {
  private static let multiplier = 1.6
  private static let jitter = 0.2

  private let initial: Duration
  private let maximum: Duration
  private var current: Duration

  package init(initial: Duration, maximum: Duration) {
    self.initial = initial
    self.maximum = maximum
    current = initial
  }

  /// Returns the next delay. Each is longer than the one before.
  package mutating func next(using random: inout some RandomNumberGenerator) -> Duration {
    let wait = current * Double.random(in: 1 - Self.jitter...1 + Self.jitter, using: &random)
    current = min(current * Self.multiplier, maximum)
    return wait
  }

  package mutating func reset() { current = initial }
}
