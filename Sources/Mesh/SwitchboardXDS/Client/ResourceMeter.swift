import SwitchboardBalancing

/// How many resources a client of control planes has, by what it knows of them, as a metric (gRFC A78).
struct ResourceMeter: Sendable {
  private struct Gauge: Sendable {
    let series: (any MetricSeries)?
    var value = 0
  }

  private let scope: MetricScope
  private var gauges: [ResourceCounts.Group: Gauge] = [:]

  /// `nil` if the metric is off.
  init?(_ scope: MetricScope) {
    guard scope.series(of: .resources) != nil else { return nil }
    self.scope = scope
  }

  /// The resources have changed, or not.
  mutating func record(_ counts: ResourceCounts) {
    for (group, count) in counts.groups where count != gauges[group]?.value ?? 0 { set(group, to: count) }
    for group in gauges.keys where counts.groups[group] == nil { set(group, to: 0) }
  }

  private mutating func set(_ group: ResourceCounts.Group, to count: Int) {
    var gauge = gauges[group] ?? Gauge(series: series(of: group))
    gauge.value = count
    gauge.series?.record(Double(count))
    gauges[group] = gauge
  }

  private func series(of group: ResourceCounts.Group) -> (any MetricSeries)? {
    scope.labelled(MetricLabel.resourceType, group.type.messageName)
      .labelled(MetricLabel.resourceAuthority, group.authority?.text ?? "#old")
      .labelled(MetricLabel.cacheState, group.state.rawValue)
      .series(of: .resources)
  }
}

extension Instrument {
  fileprivate static let resources = client(
    "resources",
    .gauge,
    "{resource}",
    "resources that are asked for, by what is known of them",
    [MetricLabel.resourceAuthority, MetricLabel.cacheState, MetricLabel.resourceType]
  )
}
