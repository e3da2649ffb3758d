import Switchboard
import SwitchboardNetwork

/// Makes one event loop's share of the calls of a run. All its calls start, end and are counted on the loop.
package final class LoadWorker: Sendable {
  private struct State: Sendable {
    var open: OpenLoop
    /// The number of the next call in a closed loop.
    var next: UInt64
    var isStopped = false
    /// Whether the run is over. Calls that end now were cancelled for that reason and do not count.
    var isClosing = false
    var tally = LoadTally()
    var whenOver: CheckedContinuation<Void, Never>?
    /// When a call was last started or ended.
    var latest: UInt64 = 0
  }

  private let loop: any EventLoop
  private let callers: [any LoadCaller]
  private let pace: LoadPace
  private let extent: LoadExtent
  private let begin: UInt64
  private let stride: UInt64
  private let callLimit: UInt64
  private let callerCount: Int
  private let state: Locked<State>

  /// One of `count` workers. `callers` use the connections on its loop. Times are relative to `begin`.
  package init(
    _ callers: [any LoadCaller],
    on loop: any EventLoop,
    pace: LoadPace,
    extent: LoadExtent,
    begin: UInt64,
    share: Int = 0,
    of count: Int = 1
  ) {
    self.callers = callers
    self.loop = loop
    self.pace = pace
    self.extent = extent
    self.begin = begin
    stride = UInt64(count)
    callLimit = extent.calls ?? .max
    let (schedule, limit): (RateSchedule, Int)
    switch pace {
    case .closed(let callers):
      (schedule, limit) = (RateSchedule(constant: 1), 1)
      callerCount = callers / count + (share < callers % count ? 1 : 0)
    case .open(let rate, let most):
      (schedule, limit) = (rate, max(1, most / count + (share < most % count ? 1 : 0)))
      callerCount = 0
    }
    let open = OpenLoop(
      schedule,
      share: share,
      of: count,
      begin: extent.warmUp,
      end: extent.end,
      callLimit: callLimit,
      limit: limit
    )
    state = Locked(State(open: open, next: UInt64(share)))
  }

  private var now: UInt64 {
    let now = MonotonicClock.now
    return now > begin ? now - begin : 0
  }

  /// Makes the calls, and returns when all have ended.
  package func run() async {
    switch pace {
    case .closed: await runClosed()
    case .open: await runOpen()
    }
  }

  /// Starts no more calls.
  package func stop() {
    let now = now
    let over: CheckedContinuation<Void, Never>? = state.withLock { state in
      state.isStopped = true
      guard case .open = pace else { return nil }
      _ = state.open.stop(at: now)
      guard state.open.isOver else { return nil }
      defer { state.whenOver = nil }
      return state.whenOver
    }
    over?.resume()
  }

  /// Counts no more calls.
  package func close() { state.withLock { $0.isClosing = true } }

  /// The measurements so far.
  package var tally: LoadTally { state.withLock { $0.tally } }

  /// When a call was last started or ended, in nanoseconds since the start of the run.
  var latest: UInt64 { state.withLock { $0.latest } }
}

// MARK: - The closed loop

extension LoadWorker {
  private func runClosed() async {
    await withDiscardingTaskGroup { group in
      for index in 0..<callerCount {
        let caller = callers[index % callers.count]
        group.addTask(executorPreference: loop) { await self.callAgain(caller) }
      }
    }
  }

  private nonisolated(nonsending) func callAgain(_ caller: any LoadCaller) async {
    var start = now
    var next = state.withLock { take(&$0, at: start) }
    while let index = next {
      let outcome = await caller.call(index)
      let end = now
      next = state.withLock { state in
        let next = take(&state, at: end)
        if isMeasured(started: start, in: state) {
          count(outcome, due: start, end: end, isLast: next == nil, in: &state)
        }
        return next
      }
      start = end
    }
  }

  /// The number of the next call.
  private func take(_ state: inout State, at now: UInt64) -> UInt64? {
    state.latest = now
    guard !state.isStopped, now < extent.end, state.next < callLimit else { return nil }
    defer { state.next += stride }
    return state.next
  }

  /// Whether a call counts. Those that were due in the warm-up and had to wait until after it do: a server that is too slow
  /// for the rate would otherwise never get beyond them.
  @inline(__always)
  private func isMeasured(started: UInt64, in state: State) -> Bool {
    started >= extent.warmUp && !state.isClosing
  }

  @inline(__always)
  private func count(
    _ outcome: LoadOutcome,
    due: UInt64,
    end: UInt64,
    isLast: Bool,
    in state: inout State
  ) {
    let ended = EndedLoadCall(
      latency: end &- due,
      status: outcome.status,
      requests: outcome.requests,
      responses: outcome.responses
    )
    state.tally.add(ended, at: end &- extent.warmUp, isLast: isLast)
  }
}

// MARK: - The open loop

extension LoadWorker {
  private func runOpen() async {
    let alarm = await makeAlarm()
    await withCheckedContinuation { continuation in
      loop.execute {
        let isOver = self.state.withLock { state in
          if !state.open.isOver { state.whenOver = continuation }
          return state.open.isOver
        }
        if isOver { continuation.resume() } else { self.startDueCalls(alarm) }
      }
    }
    loop.execute { alarm.close() }
  }

  private func makeAlarm() async -> PreciseAlarm {
    await withCheckedContinuation { continuation in
      loop.execute {
        let alarm = PreciseAlarm(on: self.loop)
        alarm.action = { [weak alarm] in if let alarm { self.startDueCalls(alarm) } }
        continuation.resume(returning: alarm)
      }
    }
  }

  /// Starts all calls that are due. Must be called on the loop.
  private func startDueCalls(_ alarm: PreciseAlarm) {
    while true {
      let now = now
      let (due, next) = state.withLock { state in
        let due = state.open.take(at: now)
        if due != nil { state.latest = now }
        return (due, state.open.next)
      }
      if let due {
        start(due, at: now, alarm)
      } else {
        if let next { alarm.set(after: next > now ? next - now : 0) }
        return
      }
    }
  }

  private func start(_ due: OpenLoop.DueCall, at now: UInt64, _ alarm: PreciseAlarm) {
    let caller = callers[Int((due.index / stride) % UInt64(callers.count))]
    Task.immediate(executorPreference: loop) {
      let outcome = await caller.call(due.index)
      self.end(due, started: now, outcome, alarm)
    }
  }

  private func end(
    _ call: OpenLoop.DueCall,
    started: UInt64,
    _ outcome: LoadOutcome,
    _ alarm: PreciseAlarm
  ) {
    let end = now
    let (mayStart, over) = state.withLock { state in
      state.latest = end
      if isMeasured(started: started, in: state) {
        count(outcome, due: call.due, end: end, isLast: !state.open.continues, in: &state)
        state.tally.serviceTime.add(end &- started)
        if !call.waited { state.tally.lateness.add(started &- call.due) }
      }
      let wasFull = state.open.end(at: end)
      // Calls that do not have to wait for others are started even if they are late.
      if wasFull, end >= extent.end { state.tally.missed += state.open.stop(at: end) }
      var over: CheckedContinuation<Void, Never>?
      if state.open.isOver { swap(&over, &state.whenOver) }
      return (wasFull, over)
    }
    if let over {
      over.resume()
    } else if mayStart {
      startDueCalls(alarm)
    }
  }
}
