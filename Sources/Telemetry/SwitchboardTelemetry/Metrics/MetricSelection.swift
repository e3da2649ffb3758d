/// Which metrics are recorded and shown, and which optional labels they have (gRFC A79).
///
/// ```swift
/// var options = TelemetryOptions(serviceName: "checkout")
/// options.metrics.enabled = ["grpc.lb.wrr.*"]
/// options.metrics.disabled = ["grpc.client.call.retry_delay"]
/// options.metrics.optionalLabels = ["grpc.lb.locality"]
/// ```
/// A name that ends in `*` matches all names with that beginning. If several match, the longest one counts.
public struct MetricSelection: Sendable, Hashable {
  /// Metrics to record although they are off by default.
  public var enabled: Set<String> = []
  /// Metrics not to record although they are on by default.
  public var disabled: Set<String> = []
  /// The optional labels to add to the metrics that have them, such as `grpc.lb.locality`.
  public var optionalLabels: Set<String> = []

  /// Selects the metrics that are on by default, without optional labels.
  public init() {}

  func includes(_ name: String, byDefault isOn: Bool) -> Bool {
    if enabled.isEmpty, disabled.isEmpty { return isOn }
    let (wanted, unwanted) = (Self.match(name, enabled), Self.match(name, disabled))
    return wanted == unwanted ? isOn && unwanted < 0 : wanted > unwanted
  }

  /// The length of the longest pattern that matches; -1 if none does. A whole name takes precedence over all others.
  private static func match(_ name: String, _ patterns: Set<String>) -> Int {
    if patterns.contains(name) { return .max }
    return patterns.reduce(-1) { longest, pattern in
      guard pattern.last == "*", name.hasPrefix(pattern.dropLast()) else { return longest }
      return max(longest, pattern.utf8.count)
    }
  }
}
