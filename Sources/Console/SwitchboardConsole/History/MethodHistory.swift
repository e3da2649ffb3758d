import SwitchboardTelemetry

/// The figures of one method's calls in equal periods.
struct MethodHistory: Sendable {
  /// The figures of one period.
  struct Period: Sendable {
    /// The calls that ended, per second, and those of them that failed.
    var rate: Float = 0
    var errors: Float = 0
    /// Percentiles of their durations in seconds; not numbers without calls.
    var median = Float.nan
    var p90 = Float.nan
    var p99 = Float.nan
    /// The calls in progress at the end.
    var inFlight: UInt32 = 0
  }

  /// What had been counted at a moment.
  private struct Mark: Sendable {
    let ended: UInt64
    let failed: UInt64
    let durations: DurationCounts
    /// How long after the mark before it this one was made, in seconds.
    let seconds: Double

    init(_ totals: MethodTotals, after seconds: Double = 0) {
      self.seconds = seconds
      (ended, failed) = (totals.ended, totals.failed)
      durations = DurationCounts(bounds: Telemetry.durationBounds, counts: totals.durations)
    }
  }

  /// The periods, the oldest first.
  private(set) var periods: [Period] = []
  /// The marks of the last minute, the oldest first. The last is the latest.
  private var marks: [Mark]

  /// The number of periods.
  static let length = 180
  /// The number of periods in a minute, of which the latest figures are.
  static let recent = 12

  init(_ totals: MethodTotals) {
    marks = [Mark(totals)]
  }

  /// Adds a period of so many seconds, at whose end the totals are these.
  mutating func add(_ totals: MethodTotals, seconds: Double) {
    let mark = Mark(totals, after: seconds)
    periods.append(Self.period(from: marks[marks.count - 1], to: mark, seconds, totals.inFlight))
    if periods.count > Self.length { periods.removeFirst() }
    marks.append(mark)
    if marks.count > Self.recent + 1 { marks.removeFirst() }
  }

  /// The figures of the last minute, or of what there is of it.
  var latest: Period {
    guard let first = marks.first, let last = marks.last, marks.count > 1 else { return Period() }
    let inFlight = UInt64(periods.last?.inFlight ?? 0)
    return Self.period(from: first, to: last, marks.dropFirst().reduce(0) { $0 + $1.seconds }, inFlight)
  }

  private static func period(from: Mark, to: Mark, _ seconds: Double, _ inFlight: UInt64) -> Period {
    let durations = to.durations.since(from.durations)
    return Period(
      rate: Float(Double(to.ended &- min(from.ended, to.ended)) / seconds),
      errors: Float(Double(to.failed &- min(from.failed, to.failed)) / seconds),
      median: durations.percentile(0.5),
      p90: durations.percentile(0.9),
      p99: durations.percentile(0.99),
      inFlight: UInt32(clamping: inFlight)
    )
  }
}
