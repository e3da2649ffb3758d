import SwitchboardBalancing

/// The values of one metric at one time.
struct MetricFamily: Sendable {
  enum Kind: Sendable {
    /// A number that only grows.
    case counter
    /// A sum that may also shrink.
    case upDownCounter
    case gauge
    case histogram
  }

  let descriptor: MetricDescriptor
  var points: [MetricPoint]

  /// The approximate number of bytes that it takes in memory.
  var cost: Int {
    points.reduce(128 + descriptor.name.utf8.count + descriptor.description.utf8.count) { $0 + $1.cost }
  }
}

/// The name, the kind and the description of a metric.
struct MetricDescriptor: Sendable, Hashable {
  let name: String
  let kind: MetricFamily.Kind
  /// The unit in UCUM's notation: `s`, `By`, `{call}`.
  let unit: String
  let description: String

  init(_ name: String, _ kind: MetricFamily.Kind, unit: String, _ description: String) {
    self.name = name
    self.kind = kind
    self.unit = unit
    self.description = description
  }

  /// Whether values of one can count for the other.
  func isSameKind(as other: MetricDescriptor) -> Bool { kind == other.kind && unit == other.unit }

  init(_ instrument: Instrument) {
    let kind: MetricFamily.Kind =
      switch instrument.kind {
      case .counter: .counter
      case .upDownCounter: .upDownCounter
      case .gauge: .gauge
      case .histogram: .histogram
      }
    self.init(instrument.name, kind, unit: instrument.unit, instrument.description)
  }
}

/// One series of a metric: its value for one set of attributes.
struct MetricPoint: Sendable {
  enum Value: Sendable {
    case int(Int)
    case double(Double)
    case histogram(HistogramValue)
  }

  let attributes: [Attribute]
  let value: Value

  /// The approximate number of bytes that it takes in memory.
  var cost: Int { attributes.reduce(64) { $0 + $1.cost } + value.cost }
}

extension MetricPoint.Value {
  fileprivate var cost: Int {
    switch self {
    case .int, .double: 8
    case .histogram(let value): (value.bounds.count + value.counts.count) * 8 + value.exemplars.count * 96
    }
  }
}

extension MetricPoint.Value {
  /// What both counted together; of a gauge, the later one.
  func joined(with later: Self, _ kind: MetricFamily.Kind) -> Self {
    switch (self, later) {
    case (.int(let one), .int(let other)) where kind != .gauge: .int(one &+ other)
    case (.double(let one), .double(let other)) where kind != .gauge: .double(one + other)
    case (.histogram(let one), .histogram(let other)): .histogram(one.joined(with: other))
    default: later
    }
  }
}

struct HistogramValue: Sendable {
  let bounds: [Double]
  /// The counts of the buckets, one more than there are bounds.
  let counts: [UInt64]
  /// `nil` if it would not only grow.
  let sum: Double?
  let exemplars: [Int: Exemplar]

  var count: UInt64 { counts.reduce(0, &+) }

  /// What both counted together. All series of a metric have the same bounds.
  fileprivate func joined(with other: HistogramValue) -> HistogramValue {
    HistogramValue(
      bounds: bounds,
      counts: zip(counts, other.counts).map { $0 &+ $1 },
      sum: sum.flatMap { own in other.sum.map { own + $0 } },
      exemplars: exemplars.merging(other.exemplars) { $0.date > $1.date ? $0 : $1 }
    )
  }
}

/// The values of all metrics at one time.
struct MetricSnapshot: Sendable {
  var families: [MetricFamily] = []
  /// When counting began, in nanoseconds since 1970.
  let start: UInt64
  let date: UInt64

  /// Two snapshots, each with half of the points.
  var halves: [MetricSnapshot] {
    var room = families.reduce(0) { $0 + $1.points.count } / 2
    var halves = [MetricSnapshot(start: start, date: date), MetricSnapshot(start: start, date: date)]
    for family in families {
      let first = family.points.prefix(room)
      room -= first.count
      for (half, points) in [first, family.points.dropFirst(first.count)].enumerated() where !points.isEmpty {
        halves[half].families.append(MetricFamily(descriptor: family.descriptor, points: Array(points)))
      }
    }
    return halves
  }
}

/// A source of metrics.
protocol MetricSource: AnyObject, Sendable {
  func collect() -> [MetricFamily]
}
