/// Which metrics are recorded and shown, and which optional labels they have (gRFC A79).
///
/// ```swift
/// var options = TelemetryOptions(serviceName: "checkout")
/// options.metrics.enabled = ["grpc.lb.wrr.*"]
/// options.metrics.disabled = ["grpc.client.call.retry_delay"]
/// options.metrics.optionalLabels = ["grpc.lb.locality"]
/// ```
/// A name that ends in `*` stands for all names with that beginning. Of several that apply to a metric, the longest counts.
public struct MetricSelection: Sendable, Hashable {
  /// Metrics that are off by default, and wanted.
  public var enabled: Set<String> = []
  /// Metrics that are not wanted.
  public var disabled: Set<String> = []
  /// The optional labels that metrics have, such as `grpc.lb.locality`.
  public var optionalLabels: Set<String> = []

  /// What is on by default, without optional labels.
  public init() {}

  func includes(_ name: String, byDefault isOn: Bool) -> Bool {
    if enabled.isEmpty, disabled.isEmpty { return isOn }
    let (wanted, unwanted) = (Self.match(name, enabled), Self.match(name, disabled))
    return wanted == unwanted ? isOn && unwanted < 0 : wanted > unwanted
  }

  /// The length of the longest pattern that applies; -1 if none does. A whole name is longer than any beginning of it.
  private static func match(_ name: String, _ patterns: Set<String>) -> Int {
    if patterns.contains(name) { return .max }
    return patterns.reduce(-1) { longest, pattern in
      guard pattern.last == "*", name.hasPrefix(pattern.dropLast()) else { return longest }
      return max(longest, pattern.utf8.count)
    }
  }
}
