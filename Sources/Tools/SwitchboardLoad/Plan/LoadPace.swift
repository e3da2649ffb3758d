/// How a run decides when to start the next call.
package enum LoadPace: Sendable, Equatable {
  /// This many callers, each of which makes its next call when its previous one has ended.
  case closed(callers: Int)
  /// Calls are due at a rate, with up to `limit` in progress.
  case open(RateSchedule, limit: Int)

  /// How many calls may be in progress.
  var concurrency: Int {
    switch self {
    case .closed(let callers): callers
    case .open(_, let limit): limit
    }
  }
}

/// How long a run makes calls. Times are in nanoseconds.
package struct LoadExtent: Sendable, Equatable {
  /// How long the warm-up takes. The calls that are started in it do not count.
  package var warmUp: UInt64 = 0
  /// How long calls are started after the warm-up.
  package var duration: UInt64?
  /// The maximum number of calls, including those of the warm-up.
  package var calls: UInt64?

  package init(warmUp: UInt64 = 0, duration: UInt64? = nil, calls: UInt64? = nil) {
    self.warmUp = warmUp
    self.duration = duration
    self.calls = calls
  }

  /// When no more calls are started.
  package var end: UInt64 { duration.map { warmUp &+ $0 } ?? .max }
}
