import LoadMessages

/// A histogram of times in fixed memory. Each power of two has 128 buckets, so a percentile is off by less than 0.4%.
///
/// The histograms of several loops or machines can be added up.
package struct LatencyHistogram: Sendable, Equatable {
  private static let bits = 7
  /// The largest value, about an hour. Larger ones count as this one.
  package static let largest: UInt64 = 1 << 42 - 1
  static let bucketCount = (42 - bits + 1) << bits

  private var buckets: [UInt64]
  package private(set) var count: UInt64 = 0
  private var smallest = UInt64.max
  /// The largest value; zero if there is none.
  package private(set) var maximum: UInt64 = 0
  private(set) var sum = 0.0
  private(set) var sumOfSquares = 0.0

  package init() { buckets = [UInt64](repeating: 0, count: Self.bucketCount) }

  /// Adds a time in nanoseconds.
  @inline(__always)
  package mutating func add(_ nanoseconds: UInt64) {
    let value = min(nanoseconds, Self.largest)
    buckets[Self.bucket(of: value)] &+= 1
    count &+= 1
    if value < smallest { smallest = value }
    if value > maximum { maximum = value }
    let size = Double(value)
    sum += size
    sumOfSquares += size * size
  }

  package mutating func add(_ other: LatencyHistogram) {
    guard other.count > 0 else { return }
    for index in buckets.indices { buckets[index] &+= other.buckets[index] }
    count &+= other.count
    smallest = min(smallest, other.smallest)
    maximum = max(maximum, other.maximum)
    sum += other.sum
    sumOfSquares += other.sumOfSquares
  }

  /// The values added since an earlier state of this histogram, or those that are not in a part of it. The minimum and maximum are only as exact as the
  /// buckets.
  package func since(_ earlier: LatencyHistogram) -> LatencyHistogram {
    var recent = LatencyHistogram()
    for index in buckets.indices where buckets[index] > earlier.buckets[index] {
      let inside = buckets[index] - earlier.buckets[index]
      let middle = min(UInt64(Self.middle(of: index)), maximum)
      recent.buckets[index] = inside
      recent.count += inside
      recent.smallest = min(recent.smallest, middle)
      recent.maximum = max(recent.maximum, middle)
    }
    recent.sum = max(0, sum - earlier.sum)
    recent.sumOfSquares = max(0, sumOfSquares - earlier.sumOfSquares)
    return recent
  }

  /// Whether all values of this histogram may be among those of another.
  func isPart(of whole: LatencyHistogram) -> Bool {
    zip(buckets, whole.buckets).allSatisfy { $0 <= $1 }
  }

  // MARK: Figures, in nanoseconds; zero if there are no values

  package var minimum: UInt64 { count == 0 ? 0 : smallest }

  package var mean: Double { count == 0 ? 0 : sum / Double(count) }

  package var deviation: Double {
    guard count > 1 else { return 0 }
    return max(0, (sumOfSquares - sum * mean) / Double(count - 1)).squareRoot()
  }

  /// The value that the given share of all values, from 0 to 1, does not exceed.
  package func quantile(_ share: Double) -> Double {
    value(atRank: (min(max(share, 0), 1) * Double(count)).rounded(.up))
  }

  /// The value at a rank, counted from one, in sorted order.
  func value(atRank rank: Double) -> Double {
    guard count > 0 else { return 0 }
    if rank <= 1 { return Double(smallest) }
    if rank >= Double(count) { return Double(maximum) }
    var seen: UInt64 = 0
    for (index, inside) in buckets.enumerated() where inside > 0 {
      seen &+= inside
      if Double(seen) >= rank {
        // The middle of the bucket may lie outside the values that were added.
        return min(max(Self.middle(of: index), Double(smallest)), Double(maximum))
      }
    }
    return Double(maximum)
  }

  /// How many values are at least `low` and less than `high`, as exactly as the buckets allow.
  func count(from low: Double, to high: Double) -> UInt64 {
    var total: UInt64 = 0
    for (index, inside) in buckets.enumerated() where inside > 0 {
      let middle = min(max(Self.middle(of: index), Double(smallest)), Double(maximum))
      if middle >= low, middle < high { total &+= inside }
    }
    return total
  }

  // MARK: Buckets

  @inline(__always)
  private static func bucket(of value: UInt64) -> Int {
    guard value >= 1 << bits else { return Int(value) }
    let shift = 63 - value.leadingZeroBitCount - bits
    return (shift + 1) << bits + Int(value >> UInt64(shift)) - 1 << bits
  }

  private static func middle(of bucket: Int) -> Double {
    guard bucket >= 1 << bits else { return Double(bucket) }
    let shift = bucket >> bits - 1
    let low = UInt64(bucket & (1 << bits - 1) + 1 << bits) << UInt64(shift)
    return Double(low) + Double((UInt64(1) << UInt64(shift)) - 1) / 2
  }
}

// MARK: - Messages

extension LatencyHistogram {
  package var message: LoadTestHistogram {
    .with {
      $0.minimum = minimum
      $0.maximum = maximum
      $0.sum = sum
      $0.sumOfSquares = sumOfSquares
      var skipped: UInt32 = 0
      for inside in buckets {
        if inside == 0 {
          skipped += 1
        } else {
          $0.skipped.append(skipped)
          $0.counts.append(inside)
          skipped = 0
        }
      }
    }
  }

  /// Nil for an inconsistent histogram: the message comes from a file or from another process.
  package init?(_ message: LoadTestHistogram) {
    self.init()
    guard message.skipped.count == message.counts.count, message.counts.count <= Self.bucketCount else {
      return nil
    }
    var index = 0
    for (skipped, inside) in zip(message.skipped, message.counts) {
      index += Int(skipped)
      guard index < Self.bucketCount else { return nil }
      let (total, overflow) = count.addingReportingOverflow(inside)
      guard !overflow, total < 1 << 53 else { return nil }
      buckets[index] = inside
      count = total
      index += 1
    }
    guard count > 0 else { return }
    guard message.minimum <= message.maximum, message.maximum <= Self.largest,
      message.sum.isFinite, message.sum >= 0, message.sumOfSquares.isFinite, message.sumOfSquares >= 0
    else { return nil }
    smallest = message.minimum
    maximum = message.maximum
    sum = message.sum
    sumOfSquares = message.sumOfSquares
  }
}
