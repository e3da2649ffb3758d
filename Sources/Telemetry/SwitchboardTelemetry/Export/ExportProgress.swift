/// How far the export of one signal to one exporter is, and who waits for it: the worker for its next turn, and flushes
/// for the worker. A wait is a task that sleeps. Cancelling it, outside of the lock, wakes who waits.
struct ExportProgress: Sendable {
  typealias Wait = Task<Void, Never>

  /// The number of things that were added, that the worker has taken, and that are exported or lost.
  private var added = 0
  private var taken = 0
  private var settled = 0
  private var pause: Wait?
  private var flushes: [(target: Int, wait: Wait)] = []
  private(set) var isClosed = false

  var unsettled: Int { added - settled }
  var waiting: Int { added - taken }
  var isFlushing: Bool { flushes.contains { $0.target > taken } }

  mutating func add() { added += 1 }

  /// Returns how many were taken, at most this many.
  mutating func take(upTo count: Int) -> Int {
    let count = min(count, waiting)
    taken += count
    return count
  }

  /// Returns the flushes that this ends.
  mutating func settle(_ count: Int) -> [Wait] {
    settled += count
    let done = flushes.filter { $0.target <= settled }
    flushes.removeAll { $0.target <= settled }
    return done.map(\.wait)
  }

  /// Settles what waits. Returns the waits that this ends.
  mutating func close() -> [Wait] {
    isClosed = true
    var waits = settle(take(upTo: .max))
    if let pause = wakeWorker() { waits.append(pause) }
    return waits
  }

  /// Begins the worker's pause.
  mutating func pause(_ duration: Duration, _ time: ExportTime) -> Wait {
    let wait = Self.wait(duration, time)
    pause = wait
    return wait
  }

  /// Returns the worker's pause. `nil` if it is at work, or is already woken.
  mutating func wakeWorker() -> Wait? {
    defer { pause = nil }
    return pause
  }

  /// Begins a flush, which ends once everything that was added before is settled, or at `end`. Returns `nil` if there
  /// is nothing to wait for.
  mutating func flush(until end: ContinuousClock.Instant, _ time: ExportTime) -> Flush? {
    guard unsettled > 0 else { return nil }
    let wait = Self.wait(time.now.duration(to: end), time)
    flushes.append((added, wait))
    return Flush(wait: wait, pause: wakeWorker())
  }

  private static func wait(_ duration: Duration, _ time: ExportTime) -> Wait {
    Task(executorPreference: time.loop) { _ = await time.sleep(duration) }
  }
}

/// A flush that has begun.
struct Flush: Sendable {
  let wait: ExportProgress.Wait
  let pause: ExportProgress.Wait?

  /// Wakes the worker, and returns once the flush has ended.
  func end() async {
    pause?.cancel()
    await withTaskCancellationHandler {
      await wait.value
    } onCancel: {
      wait.cancel()
    }
  }
}
