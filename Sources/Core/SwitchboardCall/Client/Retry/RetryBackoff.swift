/// The waits between the attempts of one call.
struct RetryBackoff {
  private static let jitter = 0.2

  private let policy: RetryPolicy
  private var current: Duration

  init(_ policy: RetryPolicy) {
    self.policy = policy
    current = min(policy.initialBackoff, policy.maxBackoff)
  }

  /// Returns the next wait and lengthens the one after it. `random`, from 0 to 1, selects a value within the jitter.
  mutating func next(_ random: Double) -> Duration {
    let wait = current * (1 - Self.jitter + 2 * Self.jitter * random)
    // Compared in seconds, since the product may exceed the range of `Duration`.
    let grown = current.seconds * policy.backoffMultiplier
    current = grown < policy.maxBackoff.seconds ? current * policy.backoffMultiplier : policy.maxBackoff
    return wait
  }

  /// Starts again with the initial backoff, after a pushback from the server.
  mutating func reset() { current = min(policy.initialBackoff, policy.maxBackoff) }
}

extension Duration {
  fileprivate var seconds: Double {
    Double(components.seconds) + Double(components.attoseconds) * 1e-18
  }
}
