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
    var instruments: [String: (descriptor: MetricDescriptor, source: any MetricSource)] = [:]
    /// The names of the instruments, in the order in which they were made.
    var names: [String] = []
    var sources: [any MetricSource] = []
    /// The declarations of components, by name.
    var declared: [String: Instrument] = [:]
    /// The names of which the log says that a metric is missing.
    var reported: Set<String> = []
    var isFullReported = false
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
    counter(MetricDescriptor(name, .counter, unit: unit, description))
  }

  /// A sum that may also shrink, such as the length of a queue.
  public func upDownCounter(_ name: String, unit: String = "1", _ description: String = "") -> Counter {
    counter(MetricDescriptor(name, .upDownCounter, unit: unit, description))
  }

  private func counter(_ descriptor: MetricDescriptor) -> Counter {
    let new = makeCounter(descriptor)
    return instrument(descriptor, new) ?? new
  }

  private func makeCounter(_ descriptor: MetricDescriptor) -> Counter {
    Counter(descriptor, limit: limit) { [weak self] in self?.report($0, descriptor.name, Self.cannotAdd) }
  }

  private static let cannotAdd =
    "an amount was not added: it is no number, or below zero, which only an upDownCounter adds"

  private func makeGauge(_ descriptor: MetricDescriptor) -> Gauge {
    Gauge(descriptor, limit: limit) { [weak self] in self?.report($0, descriptor.name, Self.cannotSet) }
  }

  private static let cannotSet = "a value was not set: it is no number"

  private func makeHistogram(_ descriptor: MetricDescriptor, _ bounds: [Double]) -> Histogram {
    Histogram(descriptor, bounds, self) { [weak self] in
      self?.report($0, descriptor.name, Self.cannotRecord)
    }
  }

  private static let hasNoBucket =
    "a value below zero was recorded, and no bound of the histogram is below zero: it counts in the first bucket, and the series "
    + "has no sum any more"

  private static let cannotRecord = "a value was not recorded: it is no number, or infinite"

  /// A value that the program sets, such as a temperature.
  public func gauge(_ name: String, unit: String = "1", _ description: String = "") -> Gauge {
    let descriptor = MetricDescriptor(name, .gauge, unit: unit, description)
    let new = makeGauge(descriptor)
    return instrument(descriptor, new) ?? new
  }

  /// A histogram with these upper bounds of its buckets, in ascending order.
  public func histogram(
    _ name: String,
    unit: String = "1",
    bounds: [Double] = [0, 5, 10, 25, 50, 75, 100, 250, 500, 750, 1000, 2500, 5000, 7500, 10000],
    _ description: String = ""
  ) -> Histogram {
    let descriptor = MetricDescriptor(name, .histogram, unit: unit, description)
    let new = makeHistogram(descriptor, bounds)
    return instrument(descriptor, new) ?? new
  }

  /// A gauge whose value is read when metrics are exported or shown. `read` must not block.
  public func observe(
    _ name: String,
    unit: String = "1",
    _ description: String = "",
    _ read: @escaping @Sendable () -> Double
  ) {
    let descriptor = MetricDescriptor(name, .gauge, unit: unit, description)
    let made = ObservedGauge(descriptor, read)
    // Of two closures, only one can be asked.
    if let known = instrument(descriptor, made), known !== made { report(descriptor.name, Self.nameIsTaken) }
  }

  /// The instrument with this name: the known one, or a new one. `nil` if the name belongs to another kind of instrument,
  /// if it is empty, or if there are too many: then what is recorded is not shown, and the log says so. The limit is that of
  /// the series of an instrument.
  private func instrument<Instrument: MetricSource>(
    _ descriptor: MetricDescriptor,
    _ new: @autoclosure () -> Instrument
  ) -> Instrument? {
    let (found, problem): (Instrument?, String?) = state.withLock { state in
      guard !descriptor.name.isEmpty else { return (nil, Self.hasNoName) }
      if let known = state.instruments[descriptor.name] {
        let found = known.descriptor.isSameKind(as: descriptor) ? known.source as? Instrument : nil
        return (found, found == nil ? Self.nameIsTaken : nil)
      }
      guard state.instruments.count < limit else { return (nil, tooMany) }
      let made = new()
      state.instruments[descriptor.name] = (descriptor, made)
      state.names.append(descriptor.name)
      return (made, nil)
    }
    if let problem { report(descriptor.name, problem) }
    return found
  }

  private static let hasNoName = "a metric is not recorded: it has no name"
  private static let nameIsTaken = "a metric is not recorded: another one has its name"
  private var tooMany: String { "a metric is not recorded: there are \(limit) others" }

  /// Logs that metrics are not on the page for scrapers.
  func reportMissingOnPage(_ names: [String]) {
    for name in names {
      report(name, "a metric is not shown to Prometheus: the name of another one becomes the same there")
    }
  }

  /// Logs that a metric is missing: once for each name, and once that there are too many.
  private func report(_ name: String, _ problem: String) {
    let isNews = state.withLock { state in
      guard problem != tooMany else {
        defer { state.isFullReported = true }
        return !state.isFullReported
      }
      return state.reported.count < limit && state.reported.insert(name).inserted
    }
    if isNews { logger.log(.warning, problem, ["name": name.limited(to: 256)]) }
  }

  /// Logs what is hardly meant with a value: once for each name, and once that its series are too many.
  private func report(_ doubt: InstrumentDoubt, _ name: String, _ cannotTake: String) {
    switch doubt {
    case .noNumber: report(name, cannotTake)
    case .negative: report(name, Self.hasNoBucket)
    case .overflow:
      // An instrument says so once itself.
      logger.log(
        .warning,
        "a metric has \(limit) series: what has further attributes counts together, under otel.metric.overflow; give it "
          + "attributes of few values, or raise TelemetryOptions.cardinalityLimit",
        ["name": name.limited(to: 256)]
      )
    }
  }

  func add(_ source: any MetricSource) { state.withLock { $0.sources.append(source) } }

  /// The values of all metrics that are enabled, those of the program in the order in which they were made: if several
  /// have the same name on the page for scrapers, the first keeps it.
  func snapshot() -> MetricSnapshot {
    let (sources, instruments) = state.withLock { state in
      (state.sources, state.names.compactMap { state.instruments[$0]?.source })
    }
    var snapshot = MetricSnapshot(start: start, date: clock.date(of: clock.now))
    for source in sources { snapshot.families += source.collect() }
    for instrument in instruments { snapshot.families += instrument.collect() }
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
      case .counter, .upDownCounter: self.instrument(descriptor, makeCounter(descriptor))
      case .gauge: self.instrument(descriptor, makeGauge(descriptor))
      case .histogram(let bounds): self.instrument(descriptor, makeHistogram(descriptor, bounds))
      }
    guard let made else { return nil }
    let names = instrument.labels + instrument.optionalLabels.filter(selection.optionalLabels.contains)
    let attributes = names.map { ($0, AttributeValue.string(labels[$0] ?? "")) }
    return BoundSeries(made, Dictionary(attributes) { first, _ in first })
  }

  /// Returns `false` if the name belongs to a different declaration, or if there are too many.
  private func declare(_ instrument: Instrument) -> Bool {
    let problem: String? = state.withLock { state in
      if let known = state.declared[instrument.name] { return known == instrument ? nil : Self.nameIsTaken }
      guard state.instruments[instrument.name] == nil else { return Self.nameIsTaken }
      guard state.declared.count < limit else { return tooMany }
      state.declared[instrument.name] = instrument
      return nil
    }
    if let problem { report(instrument.name, problem) }
    return problem == nil
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
