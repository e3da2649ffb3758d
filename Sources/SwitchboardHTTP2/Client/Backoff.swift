/// The time between attempts to connect, as in gRPC's connection backoff specification.
struct Backoff {
  private static let multiplier = 1.6
  private static let jitter = 0.2

  private let initial: Duration
  private let maximum: Duration
  private var current: Duration

  init(initial: Duration, maximum: Duration) {
    self.initial = initial
    self.maximum = maximum
    current = initial
  }

  /// Returns the next delay. Each is longer than the one before.
  mutating func next(using random: inout some RandomNumberGenerator) -> Duration {
    let wait = current * Double.random(in: 1 - Self.jitter...1 + Self.jitter, using: &random)
    current = min(current * Self.multiplier, maximum)
    return wait
  }

  mutating func reset() { current = initial }
}
