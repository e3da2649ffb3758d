import SwitchboardCall

/// The series of an instrument by their attributes, up to a limit. Further ones count together, with the attribute
/// `otel.metric.overflow`.
struct Series<Value: Sendable>: Sendable {
  /// Where each series is in `attributes` and `values`.
  private var places: [[String: AttributeValue]: Int] = [:]
  private var attributes: [[Attribute]] = []
  private var values: [Value] = []
  private let limit: Int

  init(limit: Int) {
    self.limit = limit
  }

  /// Returns whether further ones begin to count together.
  mutating func change(
    _ attributes: [String: AttributeValue],
    _ first: @autoclosure () -> Value,
    _ change: (inout Value) -> Void
  ) -> Bool {
    let isFull = values.count >= limit
    if let place = places[attributes] ?? (isFull ? places[Self.overflow] : nil) {
      change(&values[place])
      return false
    }
    let attributes = isFull ? Self.overflow : attributes
    places[attributes] = values.count
    self.attributes.append(attributes.sortedAttributes)
    values.append(first())
    change(&values[values.count - 1])
    return isFull
  }

  private static var overflow: [String: AttributeValue] { ["otel.metric.overflow": true] }

  /// The series, for a reader. It copies the values, so that no later change has to.
  var read: Zip2Sequence<[[Attribute]], [Value]> { zip(attributes, values.map { $0 }) }
}

extension Locked {
  /// The points of series. The lock is held only to copy the values.
  fileprivate func points<One>(_ value: (One) -> MetricPoint.Value) -> [MetricPoint]
  where Value == Series<One> {
    withLock { $0.read }.map { MetricPoint(attributes: $0, value: value($1)) }.sorted(by: \.attributes)
  }
}

extension [String: AttributeValue] {
  /// The attributes with names and texts cut, because a series lives as long as the process. Of names that become the
  /// same, the first in their order remains.
  fileprivate var asLabels: Self {
    guard contains(where: { !$0.isLabel || !$1.isLabel }) else { return self }
    return Dictionary(sortedAttributes.map { ($0.key.asLabel, $0.value.asLabel) }) { first, _ in first }
  }
}

/// What is hardly meant with a value for an instrument.
enum InstrumentDoubt {
  /// It is none that the instrument takes.
  case noNumber
  /// It is below zero, and no bound of the histogram is.
  case negative
  /// It is the first that counts together with others, because there are too many series.
  case overflow
}

/// An instrument that takes values one after the other.
protocol ValueInstrument: MetricSource {
  func take(_ values: [Double], _ attributes: [String: AttributeValue])
}

/// A sum of amounts. A counter that only grows ignores negative amounts.
public final class Counter: ValueInstrument {
  private let descriptor: MetricDescriptor
  private let series: Locked<Series<Double>>
  /// Logs the first amount that cannot be added, or that has no series of its own.
  private let report: @Sendable (InstrumentDoubt) -> Void

  init(_ descriptor: MetricDescriptor, limit: Int, report: @escaping @Sendable (InstrumentDoubt) -> Void) {
    self.descriptor = descriptor
    self.report = report
    series = Locked(Series(limit: limit))
  }

  /// Adds an amount to the series with these attributes.
  public func add(_ amount: Double = 1, _ attributes: [String: AttributeValue] = [:]) {
    guard amount.isFinite, amount >= 0 || descriptor.kind == .upDownCounter else { return report(.noNumber) }
    let isFull = series.withLock { $0.change(attributes.asLabels, 0) { $0 += amount } }
    if isFull { report(.overflow) }
  }

  func take(_ values: [Double], _ attributes: [String: AttributeValue]) {
    for value in values { add(value, attributes) }
  }

  func collect() -> [MetricFamily] {
    [MetricFamily(descriptor: descriptor, points: series.points { .double($0) })]
  }
}

/// The value that was set last. What is no number is not set, and the log says so once.
public final class Gauge: ValueInstrument {
  private let descriptor: MetricDescriptor
  private let series: Locked<Series<Double>>
  /// Logs the first value that cannot be set, or that has no series of its own.
  private let report: @Sendable (InstrumentDoubt) -> Void

  init(_ descriptor: MetricDescriptor, limit: Int, report: @escaping @Sendable (InstrumentDoubt) -> Void) {
    self.descriptor = descriptor
    self.report = report
    series = Locked(Series(limit: limit))
  }

  /// Sets the value of the series with these attributes.
  public func set(_ value: Double, _ attributes: [String: AttributeValue] = [:]) {
    guard !value.isNaN else { return report(.noNumber) }
    let isFull = series.withLock { $0.change(attributes.asLabels, value) { $0 = value } }
    if isFull { report(.overflow) }
  }

  func take(_ values: [Double], _ attributes: [String: AttributeValue]) {
    if let last = values.last { set(last, attributes) }
  }

  /// Adds an amount to the value of the series, which is 0 at first. What would make it no number is not added: what is
  /// infinite to the opposite.
  public func add(_ amount: Double, _ attributes: [String: AttributeValue] = [:]) {
    guard !amount.isNaN else { return report(.noNumber) }
    var isNumber = true
    let isFull = series.withLock { series in
      series.change(attributes.asLabels, 0) { value in
        isNumber = !(value + amount).isNaN
        if isNumber { value += amount }
      }
    }
    if isFull { report(.overflow) }
    if !isNumber { report(.noNumber) }
  }

  func collect() -> [MetricFamily] {
    [MetricFamily(descriptor: descriptor, points: series.points { .double($0) })]
  }
}

/// Counts values in buckets. What is no number, or infinite, is not counted, and the log says so once. A value that is
/// recorded in a sampled span becomes an exemplar, which links the histogram to the trace.
///
/// A series with a value below zero has no sum, because a sum has to grow: collectors and Prometheus take one that shrinks for
/// a restart of the process. If no bound is below zero either, such values are all in the first bucket, and the log says so.
public final class Histogram: ValueInstrument {
  private struct Cells: Sendable {
    var counts: [UInt64]
    /// `nil` once a value was below zero.
    var sum: Double? = 0
    var exemplars: [Int: Exemplar] = [:]
  }

  private let descriptor: MetricDescriptor
  private let bounds: [Double]
  private let clock: TelemetryClock
  private let series: Locked<Series<Cells>>
  /// Logs the first value that cannot be recorded, that no bucket is for, or that has no series of its own.
  private let report: @Sendable (InstrumentDoubt) -> Void

  init(
    _ descriptor: MetricDescriptor,
    _ bounds: [Double],
    _ metrics: TelemetryMetrics,
    report: @escaping @Sendable (InstrumentDoubt) -> Void
  ) {
    self.descriptor = descriptor
    self.report = report
    self.bounds = Array(Set(bounds.filter(\.isFinite)).sorted().prefix(200))
    clock = metrics.clock
    series = Locked(Series(limit: metrics.limit))
  }

  /// Records a value in the series with these attributes.
  public func record(_ value: Double, _ attributes: [String: AttributeValue] = [:]) {
    take([value], attributes)
  }

  func take(_ values: [Double], _ attributes: [String: AttributeValue]) {
    if !values.allSatisfy(\.isFinite) { report(.noNumber) }
    let values = values.lazy.filter(\.isFinite)
    guard !values.isEmpty else { return }
    if values.contains(where: { $0 < 0 }), bounds.first ?? 0 >= 0 { report(.negative) }
    let context = CallContext.current
    let date = context == nil ? 0 : clock.date(of: clock.now)
    let isFull = series.withLock { series in
      series.change(attributes.asLabels, Cells(counts: [UInt64](repeating: 0, count: bounds.count + 1))) {
        cells in
        for value in values {
          let bucket = bounds.firstIndex { value <= $0 } ?? bounds.count
          cells.counts[bucket] += 1
          cells.sum = value < 0 ? nil : cells.sum.map { $0 + value }
          if let exemplar = context?.exemplar(value, date) { cells.exemplars[bucket] = exemplar }
        }
      }
    }
    if isFull { report(.overflow) }
  }

  func collect() -> [MetricFamily] {
    let points = series.points { cells in
      .histogram(
        HistogramValue(bounds: bounds, counts: cells.counts, sum: cells.sum, exemplars: cells.exemplars)
      )
    }
    return [MetricFamily(descriptor: descriptor, points: points)]
  }
}

/// A gauge whose value is read when metrics are exported or shown.
final class ObservedGauge: MetricSource {
  private let descriptor: MetricDescriptor
  private let read: @Sendable () -> Double

  init(_ descriptor: MetricDescriptor, _ read: @escaping @Sendable () -> Double) {
    self.descriptor = descriptor
    self.read = read
  }

  func collect() -> [MetricFamily] {
    [MetricFamily(descriptor: descriptor, points: [MetricPoint(attributes: [], value: .double(read()))])]
  }
}
