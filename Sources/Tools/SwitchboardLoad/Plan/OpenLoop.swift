/// Decides when to start calls that are due at a rate. It is a plain value: the owner has the clock and makes the
/// calls.
///
/// A call that is due while too many are in progress is started when another has ended. Its latency counts from when it
/// was due, so that a stalling server cannot hide how long callers would have waited.
package struct OpenLoop: Sendable {
  /// A call to start.
  package struct DueCall: Sendable, Equatable {
    package let index: UInt64
    /// When the call was due, in nanoseconds since the start of the run.
    package let due: UInt64
    /// Whether it had to wait for others to end.
    package let waited: Bool
  }

  private let schedule: RateSchedule
  private let stride: UInt64
  private let begin: UInt64
  private let end: UInt64
  private let callLimit: UInt64
  private let limit: Int
  private var index: UInt64
  private var nextTime: UInt64
  private var isStopped = false
  /// The last time at which the maximum number of calls was in progress. Calls that were due before it had to wait.
  private var blockedUntil: UInt64 = 0
  package private(set) var inProgress = 0

  /// One of `count` loops that share a schedule: it starts every `count`th call, beginning with number `share`. Calls
  /// are due before `end`, in nanoseconds, and each loop has up to `limit` in progress. Those that are due before `begin`
  /// are of the warm-up: none of them is missed.
  package init(
    _ schedule: RateSchedule,
    share: Int = 0,
    of count: Int = 1,
    begin: UInt64 = 0,
    end: UInt64 = .max,
    callLimit: UInt64 = .max,
    limit: Int
  ) {
    self.schedule = schedule
    stride = UInt64(max(1, count))
    self.begin = begin
    self.end = end
    self.callLimit = callLimit
    self.limit = max(1, limit)
    index = UInt64(max(0, share))
    nextTime = schedule.due(index)
  }

  /// Whether there are calls left to start.
  package var continues: Bool { !isStopped && index < callLimit && nextTime < end }

  /// When the next call is due; nil if there is none, or if a call must end first.
  package var next: UInt64? { continues && inProgress < limit ? nextTime : nil }

  /// Whether there are no calls left to start or in progress.
  package var isOver: Bool { !continues && inProgress == 0 }

  /// Takes the next due call, which is then in progress.
  package mutating func take(at now: UInt64) -> DueCall? {
    guard continues, nextTime <= now, inProgress < limit else { return nil }
    let call = DueCall(index: index, due: nextTime, waited: nextTime < blockedUntil)
    inProgress += 1
    index += stride
    nextTime = schedule.due(index)
    return call
  }

  /// Records the end of a call. Returns whether others may have been waiting for it; `next` has then changed.
  package mutating func end(at now: UInt64) -> Bool {
    let wasFull = inProgress == limit
    inProgress -= 1
    if wasFull { blockedUntil = now }
    return wasFull
  }

  /// Starts no more calls. Returns how many calls were due before `now`, after the warm-up, but could not be started.
  package mutating func stop(at now: UInt64) -> UInt64 {
    defer { isStopped = true }
    guard continues, nextTime < now else { return 0 }
    let end = min(now, end)
    return countLeft(before: end) - countLeft(before: min(begin, end))
  }

  /// How many of the calls that are left are due before a time.
  private func countLeft(before time: UInt64) -> UInt64 {
    let due = min(schedule.count(before: time), callLimit)
    return due > index ? (due - index + stride - 1) / stride : 0
  }
}
