/// The token buckets of a channel's calls, one for each host and throttling policy.
final class RetryThrottles: Sendable {
  private struct Key: Hashable {
    let host: String
    let throttling: RetryThrottling
  }

  private let throttles = Locked<[Key: RetryThrottle]>([:])

  func throttle(_ throttling: RetryThrottling, for host: String) -> RetryThrottle {
    let key = Key(host: host, throttling: throttling)
    return throttles.withLock { throttles in
      if let known = throttles[key] { return known }
      // Each call may have its own config, so the number of buckets is limited.
      if throttles.count >= 64 { throttles = [:] }
      let made = RetryThrottle(throttling)
      throttles[key] = made
      return made
    }
  }
}
