/// The buckets of a channel's calls: one for each host that they go to and each throttling that they are under.
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
      // Configs come with the channel; one that comes with calls could be another each time.
      if throttles.count >= 64 { throttles = [:] }
      let made = RetryThrottle(throttling)
      throttles[key] = made
      return made
    }
  }
}
