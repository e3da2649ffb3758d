import LoadMessages

/// Measurements for each interval of time. When there are too many intervals, pairs are merged, so that a long run
/// takes no more memory than a short one.
package struct TimeSeries: Sendable, Equatable {
  package struct Interval: Sendable, Equatable {
    package var calls: UInt64 = 0
    package var errors: UInt64 = 0
    var latencySum = 0.0
    package var latencyMaximum: UInt64 = 0

    mutating func add(_ other: Interval) {
      calls &+= other.calls
      errors &+= other.errors
      latencySum += other.latencySum
      latencyMaximum = max(latencyMaximum, other.latencyMaximum)
    }

    package var latencyMean: Double { calls == 0 ? 0 : latencySum / Double(calls) }
  }

  static let firstLength: UInt64 = 100_000_000
  static let limit = 512
  /// The longest interval: three years.
  private static let longest: UInt64 = firstLength << 30

  /// The length of an interval in nanoseconds. It doubles whenever intervals are merged.
  package private(set) var length = firstLength
  package private(set) var intervals: [Interval] = []

  package init() {}

  /// Adds a call that ended `time` nanoseconds after the start of the run.
  package mutating func add(at time: UInt64, latency: UInt64, failed: Bool) {
    makeRoom(for: time)
    let index = min(Int(time / length), Self.limit - 1)
    while intervals.count <= index { intervals.append(Interval()) }
    intervals[index].calls &+= 1
    if failed { intervals[index].errors &+= 1 }
    intervals[index].latencySum += Double(latency)
    if latency > intervals[index].latencyMaximum { intervals[index].latencyMaximum = latency }
  }

  package mutating func add(_ other: TimeSeries) {
    var other = other
    while length < other.length { halve() }
    while other.length < length { other.halve() }
    while intervals.count < other.intervals.count { intervals.append(Interval()) }
    for (index, interval) in other.intervals.enumerated() { intervals[index].add(interval) }
  }

  private mutating func makeRoom(for time: UInt64) {
    while time / length >= UInt64(Self.limit), length < Self.longest { halve() }
  }

  private mutating func halve() {
    for index in 0..<(intervals.count + 1) / 2 {
      var both = intervals[2 * index]
      if 2 * index + 1 < intervals.count { both.add(intervals[2 * index + 1]) }
      intervals[index] = both
    }
    intervals.removeLast(intervals.count / 2)
    length *= 2
  }
}

// MARK: - Messages

extension TimeSeries {
  package var message: LoadTestSeries {
    .with {
      $0.intervalSeconds = Double(length) / 1e9
      $0.intervals = intervals.map { interval in
        .with {
          $0.calls = interval.calls
          $0.errors = interval.errors
          $0.latencySum = interval.latencySum
          $0.latencyMaximum = interval.latencyMaximum
        }
      }
    }
  }

  /// Nil for a series that no run can produce.
  package init?(_ message: LoadTestSeries) {
    self.init()
    guard message.intervals.count <= Self.limit else { return nil }
    guard !message.intervals.isEmpty else { return }
    let wanted = message.intervalSeconds * 1e9
    while Double(length) < wanted - 0.5, length < Self.longest { length *= 2 }
    guard abs(Double(length) - wanted) < 1 else { return nil }
    for interval in message.intervals {
      guard interval.calls < 1 << 53, interval.errors <= interval.calls, interval.latencySum.isFinite else {
        return nil
      }
      intervals.append(
        Interval(
          calls: interval.calls,
          errors: interval.errors,
          latencySum: interval.latencySum,
          latencyMaximum: interval.latencyMaximum
        )
      )
    }
  }
}
