/// The upper bounds of a histogram's buckets, in ascending order; the last bucket has none.
struct HistogramBounds: Sendable {
  /// In the unit that is shown, such as seconds.
  let shown: [Double]
  /// In the unit that is recorded, such as nanoseconds.
  let recorded: [Int]
  /// How many recorded units make one that is shown.
  let scale: Double

  init(_ shown: [Double], scale: Double = 1) {
    self.shown = shown
    self.scale = scale
    recorded = shown.map { Int(($0 * scale).rounded()) }
  }

  /// The bucket of a value: the first whose bound is not below it.
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

  /// Of durations, as gRFC A66 names them: recorded in nanoseconds, shown in seconds.
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

  /// Of sizes in bytes, as gRFC A66 names them.
  static let size = HistogramBounds([
    0, 1024, 2048, 4096, 16384, 65536, 262_144, 1_048_576, 4_194_304, 16_777_216, 67_108_864, 268_435_456,
    1_073_741_824, 4_294_967_296,
  ])

  /// `latency.bucket(of:)`, without looking at most bounds: calls mostly take less than some milliseconds.
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

  /// `size.bucket(of:)`, without looking at most bounds: messages are mostly small.
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

  /// Of retries and hedges, as gRFC A96 names them.
  static let retries = HistogramBounds([1, 2, 3, 4, 5])
  /// Of attempts that the transport repeats by itself.
  static let transparentRetries = HistogramBounds([1, 2, 3, 4, 5, 10])
}

/// The counts of one histogram. Not safe to share: its owner locks it.
struct HistogramCells: Sendable {
  private(set) var counts: [UInt64]
  private(set) var sum = 0
  /// By the buckets.
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

/// A value with the span that it was recorded in, which ties a histogram to a trace.
struct Exemplar: Sendable, Hashable {
  let value: Double
  /// In nanoseconds since 1970.
  let date: UInt64
  let traceID: TraceID
  let spanID: SpanID
}
