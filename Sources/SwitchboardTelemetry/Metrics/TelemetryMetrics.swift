public import SwitchboardBalancing
import SwitchboardCall

/// The metrics of a process: those of its calls, and those that the program adds.
///
/// ```swift
/// let orders = telemetry.metrics.counter("shop.orders", unit: "{order}", "orders that were placed")
/// orders.add(1, ["shop.country": "DE"])
/// ```
/// A name belongs to one instrument. Asking for it again returns the same one.
public final class TelemetryMetrics: Sendable {
  private struct State: Sendable {
    var instruments: [String: any MetricSource] = [:]
    var sources: [any MetricSource] = []
    /// The declarations of components, by name.
    var declared: [String: Instrument] = [:]
    /// The names for which there was another, different declaration.
    var ambiguous: Set<String> = []
  }

  let clock: TelemetryClock
  let start: UInt64
  /// The maximum number of series of an instrument.
  let limit: Int
  private let selection: MetricSelection
  private let logger: Logger
  private let state = Locked(State())

  init(
    _ clock: TelemetryClock,
    limit: Int,
    _ selection: MetricSelection = MetricSelection(),
    _ logger: Logger = .quiet
  ) {
    self.clock = clock
    self.limit = max(1, limit)
    self.selection = selection
    self.logger = logger
    start = clock.date(of: clock.now)
  }

  /// A number that only grows.
  public func counter(_ name: String, unit: String = "1", _ description: String = "") -> Counter {
    instrument(name) { Counter(MetricDescriptor(name, .counter, unit: unit, description), limit: limit) }
      ?? Counter(MetricDescriptor(name, .counter, unit: unit, description), limit: limit)
  }

  /// A sum that may also shrink, such as the length of a queue.
  public func upDownCounter(_ name: String, unit: String = "1", _ description: String = "") -> Counter {
    instrument(name) {
      Counter(MetricDescriptor(name, .upDownCounter, unit: unit, description), limit: limit)
    }
      ?? Counter(MetricDescriptor(name, .upDownCounter, unit: unit, description), limit: limit)
  }

  /// A value that the program sets, such as a temperature.
  public func gauge(_ name: String, unit: String = "1", _ description: String = "") -> Gauge {
    instrument(name) { Gauge(MetricDescriptor(name, .gauge, unit: unit, description), limit: limit) }
      ?? Gauge(MetricDescriptor(name, .gauge, unit: unit, description), limit: limit)
  }

  /// A histogram with these upper bounds of its buckets, in ascending order.
  public func histogram(
    _ name: String,
    unit: String = "1",
    bounds: [Double] = [0, 5, 10, 25, 50, 75, 100, 250, 500, 750, 1000, 2500, 5000, 7500, 10000],
    _ description: String = ""
  ) -> Histogram {
    let descriptor = MetricDescriptor(name, .histogram, unit: unit, description)
    return instrument(name) { Histogram(descriptor, bounds, self) } ?? Histogram(descriptor, bounds, self)
  }

  /// A gauge whose value is read when metrics are exported or shown. `read` must not block.
  public func observe(
    _ name: String,
    unit: String = "1",
    _ description: String = "",
    _ read: @escaping @Sendable () -> Double
  ) {
    let descriptor = MetricDescriptor(name, .gauge, unit: unit, description)
    _ = instrument(name) { ObservedGauge(descriptor, read) }
  }

  /// The instrument with this name, which is made if there is none. `nil` if the name belongs to an instrument of
  /// another kind, or if there are too many: then what is recorded is not shown. The limit is that of the series of an
  /// instrument.
  private func instrument<Instrument: MetricSource>(
    _ name: String,
    _ make: () -> Instrument
  ) -> Instrument? {
    state.withLock { state in
      if let known = state.instruments[name] { return known as? Instrument }
      guard state.instruments.count < limit else { return nil }
      let made = make()
      state.instruments[name] = made
      return made
    }
  }

  func add(_ source: any MetricSource) { state.withLock { $0.sources.append(source) } }

  /// The values of all metrics that are enabled.
  func snapshot() -> MetricSnapshot {
    let (sources, instruments) = state.withLock { ($0.sources, $0.instruments) }
    var snapshot = MetricSnapshot(start: start, date: clock.date(of: clock.now))
    for source in sources { snapshot.families += source.collect() }
    for name in instruments.keys.sorted() { snapshot.families += instruments[name]?.collect() ?? [] }
    // A component's metric that is off was never made.
    snapshot.families.removeAll { !selection.includes($0.descriptor.name, byDefault: true) }
    return snapshot
  }
}

// MARK: What components declare

extension TelemetryMetrics: MetricRecorder {
  /// The scope in which a component that belongs to no channel records, with these labels.
  public func scope(_ labels: [String: String] = [:]) -> MetricScope { MetricScope(self, labels) }

  package func series(of instrument: Instrument, _ labels: [String: String]) -> (any MetricSeries)? {
    guard selection.includes(instrument.name, byDefault: instrument.isOnByDefault), declare(instrument) else {
      return nil
    }
    let descriptor = MetricDescriptor(instrument)
    let made: (any ValueInstrument)? =
      switch instrument.kind {
      case .counter, .upDownCounter: self.instrument(instrument.name) { Counter(descriptor, limit: limit) }
      case .gauge: self.instrument(instrument.name) { Gauge(descriptor, limit: limit) }
      case .histogram(let bounds): self.instrument(instrument.name) { Histogram(descriptor, bounds, self) }
      }
    guard let made else { return nil }
    let names = instrument.labels + instrument.optionalLabels.filter(selection.optionalLabels.contains)
    let attributes = names.map { ($0, AttributeValue.string(labels[$0] ?? "")) }
    return BoundSeries(made, Dictionary(attributes) { first, _ in first })
  }

  /// Returns `false` if the name belongs to a different declaration, or if there are too many.
  private func declare(_ instrument: Instrument) -> Bool {
    let (isKnown, isNews) = state.withLock { state in
      if let known = state.declared[instrument.name] {
        return (known == instrument, known != instrument && state.ambiguous.insert(known.name).inserted)
      }
      guard state.declared.count < limit, state.instruments[instrument.name] == nil else {
        return (false, state.ambiguous.count < limit && state.ambiguous.insert(instrument.name).inserted)
      }
      state.declared[instrument.name] = instrument
      return (true, false)
    }
    if isNews {
      let message = "a metric is not recorded: its name belongs to another one, or there are too many"
      logger.log(.warning, message, ["name": instrument.name.limited(to: 256)])
    }
    return isKnown
  }
}

/// A series of a component's instrument.
private final class BoundSeries: MetricSeries {
  private let instrument: any ValueInstrument
  private let attributes: [String: AttributeValue]

  init(_ instrument: any ValueInstrument, _ attributes: [String: AttributeValue]) {
    self.instrument = instrument
    self.attributes = attributes
  }

  func record(_ values: [Double]) { instrument.take(values, attributes) }
}
