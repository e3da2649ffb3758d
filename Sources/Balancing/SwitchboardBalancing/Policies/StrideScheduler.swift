/// Visits endpoints in proportion to their weights, at even distances (gRFC A58). It passes over all of them in rounds,
/// and skips each in as many rounds as its share is below the maximum.
///
/// In rounds 0 to 65,534, an endpoint with the share `s` is visited in those in which `s * round`, modulo 65,535, has
/// just wrapped around: `s` times.
struct StrideScheduler {
  /// The share of endpoints that no round skips.
  static let full: UInt64 = 65_535

  /// Weights are clamped to this multiple and this fraction of their mean, so that few rounds pass without a visit.
  private static let largestMultipleOfMean = 10.0
  private static let leastFractionOfMean = 0.01

  private var round: UInt64
  private var position: Int

  init(seed: UInt64) {
    round = seed >> 32
    position = Int(seed & 0xFFFF)
  }

  /// Converts weights to shares.
  struct Scale {
    /// The share of an endpoint whose weight is unknown: that of the mean weight.
    fileprivate(set) var unknown = full
    private var factor = 0.0
    private var least = full

    /// Gives all endpoints the same share.
    init() {}

    /// Scales by the `count` known weights, their sum and the greatest of them. With fewer than two, all shares are
    /// equal.
    init(sum: Double, greatest: Double, count: Int) {
      guard count >= 2, sum.isFinite, greatest > 0 else { return }
      let mean = sum / Double(count)
      let top = min(greatest, mean * largestMultipleOfMean)
      guard top > 0, top.isNormal else { return }
      factor = Double(full) / top
      unknown = Self.share(mean * factor)
      least = max(1, Self.share(mean * factor * leastFractionOfMean))
    }

    /// The share of an endpoint. A weight of 0 means that it is unknown.
    func share(of weight: Double) -> UInt64 {
      weight > 0 && factor > 0 ? max(least, Self.share(weight * factor)) : unknown
    }

    private static func share(_ scaled: Double) -> UInt64 {
      scaled >= Double(full) ? full : UInt64(scaled.rounded())
    }
  }

  /// The index of the next endpoint. `count` is at least 1, and `share` gives the share of each. The loop ends within
  /// 65,535 rounds, because shares are at least 1; within one round if one of them is full.
  mutating func next(of count: Int, share: (Int) -> UInt64) -> Int {
    while true {
      position += 1
      if position >= count {
        position = 0
        round &+= 1
      }
      let own = share(position)
      // The second term keeps neighbors with the same share from being skipped in the same rounds.
      let phase = (own &* round &+ UInt64(position) &* (Self.full / 2)) % Self.full
      if phase >= Self.full - own { return position }
    }
  }
}
