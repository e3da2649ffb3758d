import SwitchboardCall

/// A resolution that looks up a name repeatedly: when an answer expires, after a failure, and when connections fail.
package final class PolledResolution: Resolution {
  /// The result of a lookup.
  package struct Answer {
    package var result: ResolverResult
    /// How long the result is valid. `nil` means until something fails.
    package var timeToLive: Duration?

    package init(_ result: ResolverResult, timeToLive: Duration? = nil) {
      self.result = result
      self.timeToLive = timeToLive
    }
  }

  /// Looks the name up once. The completion is called later, on the loop.
  package typealias Lookup = (_ completion: @escaping (Answer) -> Void) -> any ScheduledAction

  private let updates: ResolverUpdates
  private let lookup: Lookup
  private var running: (any ScheduledAction)?
  private var timer: (any ScheduledAction)?
  private var timerTime = Duration.zero
  private var isStopped = false
  /// The backoff after failed lookups.
  private var failures: Backoff
  /// The backoff between lookups that failed connections request.
  private var requests: Backoff
  private var lastRequest: Duration?
  private var earliestByRequest = Duration.zero

  package init(_ updates: ResolverUpdates, _ lookup: @escaping Lookup) {
    self.updates = updates
    self.lookup = lookup
    failures = Backoff(initial: updates.pace.initialBackoff, maximum: updates.pace.maxBackoff)
    requests = failures
    startLookup()
  }

  package func stop() {
    isStopped = true
    running?.cancel()
    running = nil
    timer?.cancel()
    timer = nil
  }

  package func resolveAgain() {
    guard !isStopped, running == nil else { return }
    let now = updates.time.now
    if let lastRequest,
      now - lastRequest > max(updates.pace.shortestInterval, earliestByRequest - lastRequest)
    {
      requests.reset()
    }
    lastRequest = now
    if now >= earliestByRequest { startLookup() } else { schedule(at: earliestByRequest) }
  }

  /// Schedules a lookup at `time`, unless one is already scheduled earlier.
  private func schedule(at time: Duration) {
    guard timer == nil || time < timerTime else { return }
    timer?.cancel()
    timerTime = time
    timer = updates.time.schedule(after: max(.zero, time - updates.time.now)) { [weak self] in
      guard let self else { return }
      timer = nil
      if !isStopped, running == nil { startLookup() }
    }
  }

  private func startLookup() {
    timer?.cancel()
    timer = nil
    var random = SystemRandomNumberGenerator()
    earliestByRequest = updates.time.now + requests.next(using: &random)
    running = lookup { [weak self] answer in
      guard let self, !isStopped else { return }
      running = nil
      finished(answer)
    }
  }

  private func finished(_ answer: Answer) {
    let now = updates.time.now
    if case .failure = answer.result.endpoints {
      var random = SystemRandomNumberGenerator()
      schedule(at: now + failures.next(using: &random))
    } else {
      failures.reset()
      if let time = answer.timeToLive { schedule(at: now + max(time, updates.pace.shortestInterval)) }
    }
    updates.report(answer.result)
  }
}
