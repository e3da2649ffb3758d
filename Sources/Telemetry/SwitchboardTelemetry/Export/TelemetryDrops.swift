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
  var reasons: [(label: String, words: String, count: Int)] {
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
