/// The metric of what was lost.
final class DropMeter: MetricSource {
  private weak let telemetry: Telemetry?

  init(_ telemetry: Telemetry) {
    self.telemetry = telemetry
  }

  func collect() -> [MetricFamily] {
    guard let telemetry else { return [] }
    var points: [MetricPoint] = []
    for (signal, drops) in telemetry.drops.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
      for reason in drops.reasons where reason.count > 0 {
        let attributes = [
          Attribute("reason", .string(reason.label)), Attribute("signal", .string(signal.rawValue)),
        ]
        points.append(MetricPoint(attributes: attributes, value: .int(reason.count)))
      }
    }
    guard !points.isEmpty else { return [] }
    let descriptor = MetricDescriptor(
      "switchboard.telemetry.dropped",
      .counter,
      unit: "{item}",
      "spans, points and log records that were lost"
    )
    return [MetricFamily(descriptor: descriptor, points: points)]
  }
}
