/// A clock that tests can stop.
struct MonotonicTime: Sendable {
  let now: @Sendable () -> Duration

  init(_ now: (@Sendable () -> Duration)?) {
    let start = ContinuousClock.now
    self.now = now ?? { ContinuousClock.now - start }
  }
}
