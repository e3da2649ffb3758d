/// Limits a client's pings. Pings that follow one another too soon are counted until something is sent or received for
/// a call.
struct PingPolicy {
  private static let strikesAllowed = 2

  private let minimumInterval: UInt64
  private var lastPing: UInt64?
  private var strikes = 0

  init(minimumInterval: Duration) {
    self.minimumInterval = minimumInterval.nanoseconds
  }

  /// Resets the count, because pings are useful while calls are made.
  mutating func sawTraffic() {
    guard lastPing != nil else { return }
    strikes = 0
    lastPing = nil
  }

  /// Returns `false` if the client has sent too many pings.
  mutating func allowsPing(at now: UInt64) -> Bool {
    defer { lastPing = now }
    guard let lastPing, now - lastPing < minimumInterval else { return true }
    strikes += 1
    return strikes <= Self.strikesAllowed
  }
}
