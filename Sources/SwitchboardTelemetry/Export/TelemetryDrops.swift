/// The number of a signal's spans, points or records that were lost, by the reason. Each exporter counts what it loses.
public struct TelemetryDrops: Sendable, Hashable {
  /// Dropped because an exporter's queue was full.
  public var queueFull = 0
  /// Refused by the collector, or not delivered in time.
  public var notExported = 0
  /// In a queue when the telemetry was shut down, or recorded afterwards.
  public var shutDown = 0
  /// Spans that the program never ended.
  public var unended = 0

  /// Each number, with the label of its reason and the words for it.
  fileprivate var reasons: [(label: String, words: String, count: Int)] {
    [
      ("queue_full", "dropped because a queue was full", queueFull),
      ("not_exported", "not exported", notExported),
      ("shut_down", "too late to be exported", shutDown),
      ("unended", "never ended", unended),
    ]
  }

  static func += (drops: inout TelemetryDrops, more: TelemetryDrops) {
    drops.queueFull += more.queueFull
    drops.notExported += more.notExported
    drops.shutDown += more.shutDown
    drops.unended += more.unended
  }
}

extension TelemetryDrops: CustomStringConvertible {
  /// The numbers in words, such as `3 not exported, 1 never ended`.
  public var description: String {
    let lost = reasons.filter { $0.count > 0 }.map { "\($0.count) \($0.words)" }
    return lost.isEmpty ? "nothing lost" : lost.joined(separator: ", ")
  }
}

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
