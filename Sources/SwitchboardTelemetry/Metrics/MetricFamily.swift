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
  let sum: Double
  let exemplars: [Int: Exemplar]

  var count: UInt64 { counts.reduce(0, &+) }

  /// What both counted together. All series of a metric have the same bounds.
  fileprivate func joined(with other: HistogramValue) -> HistogramValue {
    HistogramValue(
      bounds: bounds,
      counts: zip(counts, other.counts).map { $0 &+ $1 },
      sum: sum + other.sum,
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
}

/// A source of metrics.
protocol MetricSource: AnyObject, Sendable {
  func collect() -> [MetricFamily]
}
