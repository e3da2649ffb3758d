import SwitchboardCall

/// The metrics of a process: those of calls, and those that the program adds.
///
/// ```swift
/// let orders = telemetry.metrics.counter("shop.orders", unit: "{order}", "orders that were placed")
/// orders.add(1, ["shop.country": "DE"])
/// ```
/// A name belongs to one instrument: asked for again, it is the same one.
public final class TelemetryMetrics: Sendable {
  private struct State: Sendable {
    var instruments: [String: any MetricSource] = [:]
    var sources: [any MetricSource] = []
    var untold = 0
  }

  let clock: TelemetryClock
  let start: UInt64
  /// How many series one instrument has at most.
  let limit: Int
  private let state = Locked(State())

  init(_ clock: TelemetryClock, limit: Int) {
    self.clock = clock
    self.limit = max(1, limit)
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

  /// The last value that was set, such as a temperature.
  public func gauge(_ name: String, unit: String = "1", _ description: String = "") -> Gauge {
    instrument(name) { Gauge(MetricDescriptor(name, .gauge, unit: unit, description), limit: limit) }
      ?? Gauge(MetricDescriptor(name, .gauge, unit: unit, description), limit: limit)
  }

  /// How often values fell between bounds, in ascending order.
  public func histogram(
    _ name: String,
    unit: String = "1",
    bounds: [Double] = [0, 5, 10, 25, 50, 75, 100, 250, 500, 750, 1000, 2500, 5000, 7500, 10000],
    _ description: String = ""
  ) -> Histogram {
    let descriptor = MetricDescriptor(name, .histogram, unit: unit, description)
    return instrument(name) { Histogram(descriptor, bounds, self) } ?? Histogram(descriptor, bounds, self)
  }

  /// Asks for values when metrics are read. It must not block.
  public func observe(
    _ name: String,
    unit: String = "1",
    _ description: String = "",
    _ read: @escaping @Sendable () -> Double
  ) {
    let descriptor = MetricDescriptor(name, .gauge, unit: unit, description)
    _ = instrument(name) { ObservedGauge(descriptor, read) }
  }

  /// `nil`: the name belongs to an instrument of another kind, and what is counted under it is not shown. There are at
  /// most as many instruments as an instrument has series.
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

  /// Everything that was measured until now.
  func snapshot() -> MetricSnapshot {
    let (sources, instruments) = state.withLock { ($0.sources, $0.instruments) }
    var snapshot = MetricSnapshot(start: start, date: clock.date(of: clock.now))
    for source in sources { snapshot.families += source.collect() }
    for name in instruments.keys.sorted() { snapshot.families += instruments[name]?.collect() ?? [] }
    return snapshot
  }
}
