/// What decides when the next call is started.
package enum LoadPace: Sendable, Equatable {
  /// So many callers, each of which makes its next call when its last has ended.
  case closed(callers: Int)
  /// Calls are due at a rate, and up to a number of them are in progress.
  case open(RateSchedule, limit: Int)
}

/// How long calls are made. Times are in nanoseconds.
package struct LoadExtent: Sendable, Equatable {
  /// How long calls are made that do not count.
  package var warmUp: UInt64 = 0
  /// How long calls are started after that.
  package var duration: UInt64?
  /// After how many calls no more are started, those of the warm-up included.
  package var calls: UInt64?

  package init(warmUp: UInt64 = 0, duration: UInt64? = nil, calls: UInt64? = nil) {
    self.warmUp = warmUp
    self.duration = duration
    self.calls = calls
  }

  /// When no more calls are started.
  package var end: UInt64 { duration.map { warmUp &+ $0 } ?? .max }
}
