/// Latencies of calls, counted in buckets so that a long run needs no more memory than a short one.
///
/// Each power of two has 64 buckets: a result is off by less than 2%.
struct Latencies {
  private static let bits = 6
  private var buckets = [Int](repeating: 0, count: 32 << bits)
  private(set) var count = 0

  mutating func add(_ latency: Duration) {
    let (seconds, attoseconds) = latency.components
    let nanoseconds = UInt64(max(0, seconds)) * 1_000_000_000 + UInt64(max(0, attoseconds)) / 1_000_000_000
    buckets[min(Self.bucket(nanoseconds), buckets.count - 1)] += 1
    count += 1
  }

  mutating func add(_ other: Latencies) {
    for index in buckets.indices { buckets[index] += other.buckets[index] }
    count += other.count
  }

  /// The latency that this share of the calls does not exceed, in microseconds.
  func percentile(_ share: Double) -> Double {
    let rank = Int(share * Double(count))
    var seen = 0
    for (index, bucket) in buckets.enumerated() {
      seen += bucket
      if seen > rank { return Double(Self.middle(index) / 100) / 10 }
    }
    return 0
  }

  private static func bucket(_ value: UInt64) -> Int {
    guard value >= 1 << bits else { return Int(value) }
    let shift = 63 - value.leadingZeroBitCount - bits
    return (shift + 1) << bits + Int(value >> UInt64(shift)) - 1 << bits
  }

  private static func middle(_ bucket: Int) -> UInt64 {
    guard bucket >= 1 << bits else { return UInt64(bucket) }
    let shift = bucket >> bits - 1
    let low = UInt64(bucket & (1 << bits - 1) + 1 << bits) << UInt64(shift)
    return low + (1 << UInt64(shift)) / 2
  }
}
