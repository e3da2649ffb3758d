import SwitchboardCall
import SwitchboardTransport

/// How much of a processor's time each event loop uses.
final class LoopWatch: Sendable {
  private struct State: Sendable {
    /// The processor's time of each loop when it was last seen, in nanoseconds, and when that was.
    var times: [ObjectIdentifier: UInt64] = [:]
    var last: ContinuousClock.Instant
    var loads: [ObjectIdentifier: Float] = [:]
  }

  private let state: Locked<State>
  private let time: any CallTime

  init(_ time: any CallTime) {
    self.time = time
    state = Locked(State(last: time.now))
  }

  /// Ends a period, after which the loops have used so much.
  func look(at loops: [ServerSnapshot.LoopUse]) {
    let now = time.now
    state.withLock { state in
      let passed = max(1, state.last.duration(to: now) / .nanoseconds(1))
      var times: [ObjectIdentifier: UInt64] = [:]
      var loads: [ObjectIdentifier: Float] = [:]
      for loop in loops {
        times[loop.id] = loop.processorTime
        guard let before = state.times[loop.id], loop.processorTime >= before else { continue }
        loads[loop.id] = Float(min(1, Double(loop.processorTime - before) / passed))
      }
      (state.times, state.loads, state.last) = (times, loads, now)
    }
  }

  /// The share of a processor's time in the last period, from 0 to 1; -1 if there was none.
  func load(of id: ObjectIdentifier) -> Float { state.withLock { $0.loads[id] ?? -1 } }
}
