import SwitchboardText

/// Which metrics of servers a client tells the control plane of (gRFC A85).
struct MetricRule: Hashable, Sendable {
  private(set) var cpuUtilization = false
  private(set) var memoryUtilization = false
  private(set) var applicationUtilization = false
  private var allNamed = false
  private var named: Set<ExactText> = []

  /// As a cluster has it. What is not known is left out.
  init(_ names: [String]) {
    for name in names {
      switch true {
      case name.isExactly("cpu_utilization"): cpuUtilization = true
      case name.isExactly("mem_utilization"): memoryUtilization = true
      case name.isExactly("application_utilization"): applicationUtilization = true
      case name.isExactly("named_metrics.*"): allNamed = true
      default: if name.begins(with: NamedMetric.prefix) { named.insert(ExactText(name)) }
      }
    }
    if allNamed { named = [] }
  }

  /// Whether there are none.
  var isEmpty: Bool { !cpuUtilization && !memoryUtilization && !applicationUtilization && !hasNames }

  /// Whether there may be metrics that have names.
  var hasNames: Bool { allNamed || !named.isEmpty }

  func has(_ metric: NamedMetric) -> Bool { allNamed || named.contains(metric.name) }
}

/// A metric with a name of the server's choice.
struct NamedMetric: Hashable, Sendable {
  static let prefix = "named_metrics."
  /// Longer names are not reported.
  private static let longestName = 256

  /// As control planes see it, with the prefix.
  let name: ExactText

  /// `nil` if the name is too long.
  init?(_ own: String) {
    guard own.utf8.count <= Self.longestName else { return nil }
    name = ExactText(Self.prefix + own)
  }
}
