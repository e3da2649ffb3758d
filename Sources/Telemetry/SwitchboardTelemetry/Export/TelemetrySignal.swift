/// A kind of telemetry.
public enum TelemetrySignal: String, Sendable, CaseIterable {
  /// Spans.
  case traces
  /// Metrics.
  case metrics
  /// Log records.
  case logs
}
