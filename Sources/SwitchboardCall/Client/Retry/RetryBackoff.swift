/// How long to wait between the attempts of one call.
struct RetryBackoff {
  private static let jitter = 0.2

  private let policy: RetryPolicy
  private var current: Duration

  init(_ policy: RetryPolicy) {
    self.policy = policy
    current = min(policy.initialBackoff, policy.maxBackoff)
  }

  /// The next wait, with `random` from 0 to 1 to place it within the jitter; the one after is longer.
  mutating func next(_ random: Double) -> Duration {
    let wait = current * (1 - Self.jitter + 2 * Self.jitter * random)
    // Compared as seconds: the product of the two may be more than a duration holds.
    let grown = current.seconds * policy.backoffMultiplier
    current = grown < policy.maxBackoff.seconds ? current * policy.backoffMultiplier : policy.maxBackoff
    return wait
  }

  /// The server has said how long to wait: what follows starts from the beginning.
  mutating func reset() { current = min(policy.initialBackoff, policy.maxBackoff) }
}

extension Duration {
  fileprivate var seconds: Double {
    Double(components.seconds) + Double(components.attoseconds) * 1e-18
  }
}
