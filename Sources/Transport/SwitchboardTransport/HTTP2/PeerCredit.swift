/// What a peer may do that costs it little and serves no call. It starts with an allowance, and regains a quarter of it each
/// second.
struct PeerCredit {
  private let allowance: Int
  private var left: Int
  private var refilledAt: UInt64 = 0

  init(allowance: Int) {
    // A user may set the largest integer to mean no limit. Nothing could be added to it without overflow.
    self.allowance = min(allowance, Int(Int32.max))
    left = self.allowance
  }

  /// Returns `false` if the credit is exhausted.
  mutating func spend(_ count: Int, now: UInt64) -> Bool {
    if refilledAt == 0 { refilledAt = now }
    left -= count
    if left >= 0 { return true }
    let elapsed = min(now - min(now, refilledAt), 4_000_000_000)
    refilledAt = now
    left += Int(Double(allowance) * Double(elapsed) / 4e9)
    return left >= 0
  }

  mutating func earn(_ count: Int) { left = min(allowance, left + count) }
}
