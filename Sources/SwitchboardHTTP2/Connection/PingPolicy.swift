/// How many pings a client may send: those that come too soon after one another are counted until
/// something is sent or received for a call.
struct PingPolicy {
  private static let strikesAllowed = 2

  private let minimumInterval: UInt64
  private var lastPing: UInt64?
  private var strikes = 0

  init(minimumInterval: Duration) {
    self.minimumInterval = minimumInterval.nanoseconds
  }

  /// Calls are being made, so pings have their use.
  mutating func sawTraffic() {
    guard lastPing != nil else { return }
    strikes = 0
    lastPing = nil
  }

  /// `false` when the client has sent too many.
  mutating func allowsPing(at now: UInt64) -> Bool {
    defer { lastPing = now }
    guard let lastPing, now - lastPing < minimumInterval else { return true }
    strikes += 1
    return strikes <= Self.strikesAllowed
  }
}
