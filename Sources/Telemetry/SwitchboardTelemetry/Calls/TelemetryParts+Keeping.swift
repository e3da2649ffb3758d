import SwitchboardCall

extension TelemetryParts {
  /// Tells who keeps calls of one that has ended now, after so many nanoseconds, if it is worth a look: one that is slow or
  /// timed always is, and of failures those that are not too close to others. `complete` adds what is known of it.
  func keep(
    _ called: CalledMethod,
    _ end: ObservedEnd,
    _ duration: Int,
    since start: UInt64,
    isTimed: Bool,
    _ complete: (inout EndedCall) -> Void
  ) {
    guard let keeper = keeping.current else {
      called.slowness = .max
      return
    }
    guard isTimed || duration >= called.slowness || called.failureIsDue(end.status.code, at: clock.mark)
    else {
      return
    }
    let date = clock.date(of: clock.now) &- UInt64(duration)
    var call = EndedCall(called, end, start: start, date: date, duration: duration, isTimed: isTimed)
    complete(&call)
    keeper.keep(call)
  }
}
