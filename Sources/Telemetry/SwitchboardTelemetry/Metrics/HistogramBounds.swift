/// The upper bounds of a histogram's buckets, in ascending order. The last bucket has no bound.
struct HistogramBounds: Sendable {
  /// The bounds in the unit in which they are exported, such as seconds.
  let shown: [Double]
  /// The bounds in the unit in which values are recorded, such as nanoseconds.
  let recorded: [Int]
  /// The number of recorded units in one exported unit.
  let scale: Double

  init(_ shown: [Double], scale: Double = 1) {
    self.shown = shown
    self.scale = scale
    recorded = shown.map { Int(($0 * scale).rounded()) }
  }

  /// The bucket of a value: the first one whose bound is not less than the value.
  @inline(__always)
  func bucket(of value: Int) -> Int {
    var low = 0
    var high = recorded.count
    while low < high {
      let middle = (low &+ high) >> 1
      if recorded[middle] < value { low = middle &+ 1 } else { high = middle }
    }
    return low
  }

  /// The bounds of gRFC A66 for durations: recorded in nanoseconds, exported in seconds.
  static let latency = HistogramBounds(
    [
      0, 0.00001, 0.00005, 0.0001, 0.0003, 0.0006, 0.0008, 0.001, 0.002, 0.003, 0.004, 0.005, 0.006, 0.008,
      0.01,
      0.013, 0.016, 0.02, 0.025, 0.03, 0.04, 0.05, 0.065, 0.08, 0.1, 0.13, 0.16, 0.2, 0.25, 0.3, 0.4, 0.5,
      0.65,
      0.8, 1, 2, 5, 10, 20, 50, 100,
    ],
    scale: 1e9
  )

  /// The bounds of gRFC A66 for sizes in bytes.
  static let size = HistogramBounds([
    0, 1024, 2048, 4096, 16384, 65536, 262_144, 1_048_576, 4_194_304, 16_777_216, 67_108_864, 268_435_456,
    1_073_741_824, 4_294_967_296,
  ])

  /// Returns `latency.bucket(of:)`, but faster for short durations, which are frequent.
  @inline(__always)
  static func latencyBucket(of nanoseconds: Int) -> Int {
    switch nanoseconds {
    case ...0: 0
    case ...10_000: 1
    case ...50_000: 2
    case ...100_000: 3
    case ...300_000: 4
    case ...600_000: 5
    case ...800_000: 6
    case ...1_000_000: 7
    default: latency.bucket(of: nanoseconds)
    }
  }

  /// Returns `size.bucket(of:)`, but faster for small sizes, which are frequent.
  @inline(__always)
  static func sizeBucket(of byteCount: Int) -> Int {
    switch byteCount {
    case ...0: 0
    case ...1024: 1
    case ...2048: 2
    case ...4096: 3
    default: size.bucket(of: byteCount)
    }
  }

  /// The bounds of gRFC A96 for retries and hedges.
  static let retries = HistogramBounds([1, 2, 3, 4, 5])
  /// The bounds of gRFC A96 for transparent retries.
  static let transparentRetries = HistogramBounds([1, 2, 3, 4, 5, 10])
}

/// The counts of one histogram. The owner provides the lock.
struct HistogramCells: Sendable {
  private(set) var counts: [UInt64]
  private(set) var sum = 0
  /// The exemplars, by their buckets.
  var exemplars: [Int: Exemplar] = [:]

  init(counts: [UInt64], sum: Int) {
    self.counts = counts
    self.sum = sum
  }

  init(_ bounds: HistogramBounds) {
    counts = [UInt64](repeating: 0, count: bounds.recorded.count + 1)
  }

  @inline(__always)
  mutating func record(_ value: Int, _ bounds: HistogramBounds) {
    counts[bounds.bucket(of: value)] &+= 1
    sum &+= value
  }

  var count: UInt64 { counts.reduce(0, &+) }

  mutating func add(_ other: HistogramCells) {
    for index in counts.indices { counts[index] &+= other.counts[index] }
    sum &+= other.sum
    exemplars.merge(other.exemplars) { $0.date > $1.date ? $0 : $1 }
  }

  func point(_ attributes: [Attribute], _ bounds: HistogramBounds) -> MetricPoint {
    MetricPoint(
      attributes: attributes,
      value: .histogram(
        HistogramValue(
          bounds: bounds.shown,
          counts: counts,
          sum: Double(sum) / bounds.scale,
          exemplars: exemplars
        )
      )
    )
  }
}
