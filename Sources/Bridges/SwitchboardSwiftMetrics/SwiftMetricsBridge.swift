// Empty unless the environment asks for it. The tests compile this file over a stand-in with the package's signatures.
#if SwiftMetrics
  public import SwitchboardTelemetry

  #if BridgeStandIns
    public import BridgeStandIns
  #else
    public import CoreMetrics
  #endif

  /// Has the metrics of libraries that use swift-metrics counted with those of calls.
  ///
  /// ```swift
  /// MetricsSystem.bootstrap(TelemetryMetricsFactory(telemetry))
  /// ```
  /// Counters become counters, meters and recorders that do not aggregate gauges, other recorders and timers (in seconds)
  /// histograms; dimensions become labels.
  public struct TelemetryMetricsFactory: MetricsFactory {
    private let metrics: TelemetryMetrics

    /// Counts in the metrics of `telemetry`.
    public init(_ telemetry: Telemetry) {
      metrics = telemetry.metrics
    }

    public func makeCounter(label: String, dimensions: [(String, String)]) -> CounterHandler {
      CountingHandler(metrics.counter(label), dimensions)
    }

    public func makeFloatingPointCounter(label: String, dimensions: [(String, String)])
      -> FloatingPointCounterHandler
    {
      CountingHandler(metrics.counter(label), dimensions)
    }

    public func makeMeter(label: String, dimensions: [(String, String)]) -> MeterHandler {
      GaugeHandler(metrics.gauge(label), dimensions)
    }

    public func makeRecorder(label: String, dimensions: [(String, String)], aggregate: Bool)
      -> RecorderHandler
    {
      if aggregate { return HistogramHandler(metrics.histogram(label), dimensions) }
      return GaugeHandler(metrics.gauge(label), dimensions)
    }

    public func makeTimer(label: String, dimensions: [(String, String)]) -> TimerHandler {
      let bounds = [0.0001, 0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]
      return HistogramHandler(metrics.histogram(label, unit: "s", bounds: bounds), dimensions)
    }

    // What was counted stays: Prometheus takes series that end and begin again for restarts.
    public func destroyCounter(_ handler: CounterHandler) {}
    public func destroyFloatingPointCounter(_ handler: FloatingPointCounterHandler) {}
    public func destroyMeter(_ handler: MeterHandler) {}
    public func destroyRecorder(_ handler: RecorderHandler) {}
    public func destroyTimer(_ handler: TimerHandler) {}
  }

  private func labels(_ dimensions: [(String, String)]) -> [String: AttributeValue] {
    Dictionary(dimensions.map { ($0.0, AttributeValue.string($0.1)) }) { _, last in last }
  }

  private final class CountingHandler: CounterHandler, FloatingPointCounterHandler {
    private let counter: SwitchboardTelemetry.Counter
    private let attributes: [String: AttributeValue]

    init(_ counter: SwitchboardTelemetry.Counter, _ dimensions: [(String, String)]) {
      self.counter = counter
      attributes = labels(dimensions)
    }

    func increment(by amount: Int64) { counter.add(Double(amount), attributes) }
    func increment(by amount: Double) { counter.add(amount, attributes) }
    /// A counter only grows.
    func reset() {}
  }

  private final class GaugeHandler: MeterHandler, RecorderHandler {
    private let gauge: SwitchboardTelemetry.Gauge
    private let attributes: [String: AttributeValue]

    init(_ gauge: SwitchboardTelemetry.Gauge, _ dimensions: [(String, String)]) {
      self.gauge = gauge
      attributes = labels(dimensions)
    }

    func set(_ value: Int64) { gauge.set(Double(value), attributes) }
    func set(_ value: Double) { gauge.set(value, attributes) }
    func increment(by amount: Double) { gauge.add(amount, attributes) }
    func decrement(by amount: Double) { gauge.add(-amount, attributes) }
    func record(_ value: Int64) { set(value) }
    func record(_ value: Double) { set(value) }
  }

  private final class HistogramHandler: RecorderHandler, TimerHandler {
    private let histogram: SwitchboardTelemetry.Histogram
    private let attributes: [String: AttributeValue]

    init(_ histogram: SwitchboardTelemetry.Histogram, _ dimensions: [(String, String)]) {
      self.histogram = histogram
      attributes = labels(dimensions)
    }

    func record(_ value: Int64) { histogram.record(Double(value), attributes) }
    func record(_ value: Double) { histogram.record(value, attributes) }
    func recordNanoseconds(_ duration: Int64) { histogram.record(Double(duration) / 1e9, attributes) }
  }
#endif
