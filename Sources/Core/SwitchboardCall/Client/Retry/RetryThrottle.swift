/// The token bucket that the calls of a channel share. It counts thousandths of a token.
final class RetryThrottle: Sendable {
  private let capacity: Int
  private let gain: Int
  private let tokens: Locked<Int>

  init(_ config: RetryThrottling) {
    capacity = config.maxTokens * 1000
    // A ratio above the capacity has the same effect as the capacity: one success fills the bucket.
    gain = Int(min(config.tokenRatio * 1000, Double(capacity)))
    tokens = Locked(capacity)
  }

  var allowsRepetition: Bool { tokens.withLock { $0 > capacity / 2 } }

  func recordFailure() { tokens.withLock { $0 = max(0, $0 - 1000) } }

  func recordSuccess() { tokens.withLock { $0 = min(capacity, $0 + gain) } }
}
