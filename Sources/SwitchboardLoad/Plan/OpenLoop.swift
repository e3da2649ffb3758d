/// Decides when calls are started that are due at a rate: a value without clock or calls, which its owner asks.
///
/// A call that is due while too many are in progress is started when another has ended. It counts from when it was due,
/// so that a server that stalls cannot hide how long its callers would have waited.
package struct OpenLoop: Sendable {
  /// A call to start.
  package struct DueCall: Sendable, Equatable {
    package let index: UInt64
    /// When it was due, after the begin, in nanoseconds.
    package let due: UInt64
    /// Whether it had to wait for others to end.
    package let waited: Bool
  }

  private let schedule: RateSchedule
  private let stride: UInt64
  private let end: UInt64
  private let callLimit: UInt64
  private let limit: Int
  private var index: UInt64
  private var nextTime: UInt64
  private var isStopped = false
  /// Until when as many calls were in progress as may be: those due before had to wait.
  private var blockedUntil: UInt64 = 0
  package private(set) var inProgress = 0

  /// One of `count` that share a schedule: it starts each `count`th call, from number `share` on. Calls are due before
  /// `end`, in nanoseconds, and up to `limit` of its own are in progress.
  package init(
    _ schedule: RateSchedule,
    share: Int = 0,
    of count: Int = 1,
    end: UInt64 = .max,
    callLimit: UInt64 = .max,
    limit: Int
  ) {
    self.schedule = schedule
    stride = UInt64(max(1, count))
    self.end = end
    self.callLimit = callLimit
    self.limit = max(1, limit)
    index = UInt64(max(0, share))
    nextTime = schedule.due(index)
  }

  private var mayGoOn: Bool { !isStopped && index < callLimit && nextTime < end }

  /// When the next call is due; nil if there is none, or if one must end first.
  package var next: UInt64? { mayGoOn && inProgress < limit ? nextTime : nil }

  /// Whether nothing is left to start or to wait for.
  package var isOver: Bool { !mayGoOn && inProgress == 0 }

  /// The next call that is due, which counts as in progress from now on.
  package mutating func take(at now: UInt64) -> DueCall? {
    guard mayGoOn, nextTime <= now, inProgress < limit else { return nil }
    let call = DueCall(index: index, due: nextTime, waited: nextTime < blockedUntil)
    inProgress += 1
    index += stride
    nextTime = schedule.due(index)
    return call
  }

  /// A call has ended. Returns whether others may have waited for that: then `next` has changed.
  package mutating func end(at now: UInt64) -> Bool {
    let wasFull = inProgress == limit
    inProgress -= 1
    if wasFull { blockedUntil = now }
    return wasFull
  }

  /// Starts no more. Returns how many calls were due before `now` that others kept from starting.
  package mutating func stop(at now: UInt64) -> UInt64 {
    defer { isStopped = true }
    guard mayGoOn, nextTime < now else { return 0 }
    let due = min(schedule.count(before: min(now, end)), callLimit)
    return due > index ? (due - index + stride - 1) / stride : 0
  }
}
