/// The distribution of durations, as counts of buckets.
struct DurationCounts: Sendable, Equatable {
  /// The upper bounds of the buckets in seconds; the last bucket has none.
  let bounds: [Double]
  private(set) var counts: [UInt64]

  init(bounds: [Double], counts: [UInt64]) {
    self.bounds = bounds
    self.counts = counts
  }

  var total: UInt64 { counts.reduce(0, &+) }

  /// What was added since an earlier state.
  func since(_ earlier: DurationCounts) -> DurationCounts {
    DurationCounts(bounds: bounds, counts: zip(counts, earlier.counts).map { $0 >= $1 ? $0 - $1 : 0 })
  }

  mutating func add(_ other: DurationCounts) { counts = zip(counts, other.counts).map { $0 &+ $1 } }

  /// The duration in seconds that this share of calls did not exceed, evenly spread within its bucket; not a number without
  /// calls. The last bucket is known by its lower bound only.
  func percentile(_ share: Double) -> Float {
    let total = Double(self.total)
    guard total > 0 else { return .nan }
    let wanted = share * total
    var below = 0.0
    for (index, count) in counts.enumerated() where count > 0 {
      let reached = below + Double(count)
      guard reached < wanted else {
        let lower = index > 0 ? bounds[index - 1] : 0
        guard index < bounds.count else { return Float(lower) }
        return Float(lower + (bounds[index] - lower) * (wanted - below) / Double(count))
      }
      below = reached
    }
    return Float(bounds.last ?? 0)
  }
}
