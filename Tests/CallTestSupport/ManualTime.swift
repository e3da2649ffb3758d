import SwitchboardCall

/// A clock that only a test advances.
package final class ManualTime: CallTime {
  private struct Sleeper {
    let id: Int
    let time: ContinuousClock.Instant
    let continuation: CheckedContinuation<Void, any Error>
  }

  private struct State {
    package var now: ContinuousClock.Instant
    var sleepers: [Sleeper] = []
    var nextID = 0
    var cancelled: Set<Int> = []
  }

  private let state = Locked(State(now: .now))
  private let waits: AsyncStream<Duration>
  private let announce: AsyncStream<Duration>.Continuation

  package init() { (waits, announce) = AsyncStream<Duration>.makeStream() }

  package var now: ContinuousClock.Instant { state.withLock { $0.now } }

  package func sleep(until time: ContinuousClock.Instant) async throws {
    let id = state.withLock { state in
      state.nextID += 1
      return state.nextID
    }
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        let wait: Duration? = state.withLock { state in
          if state.cancelled.remove(id) != nil { return nil }
          state.sleepers.append(Sleeper(id: id, time: time, continuation: continuation))
          return state.now.duration(to: time)
        }
        guard let wait else { return continuation.resume(throwing: CancellationError()) }
        if wait <= .zero { wakeAll() }
        announce.yield(wait)
      }
    } onCancel: {
      let sleeper: Sleeper? = state.withLock { state in
        guard let index = state.sleepers.firstIndex(where: { $0.id == id }) else {
          state.cancelled.insert(id)
          return nil
        }
        return state.sleepers.remove(at: index)
      }
      sleeper?.continuation.resume(throwing: CancellationError())
    }
  }

  /// How long the next waiting task will wait.
  package func nextWait() async -> Duration? {
    for await wait in waits { return wait }
    return nil
  }

  package func advance(by duration: Duration) {
    state.withLock { $0.now = $0.now.advanced(by: duration) }
    wakeAll()
  }

  package var sleeperCount: Int { state.withLock { $0.sleepers.count } }

  private func wakeAll() {
    let due = state.withLock { state in
      let due = state.sleepers.filter { $0.time <= state.now }
      state.sleepers.removeAll { $0.time <= state.now }
      return due
    }
    for sleeper in due { sleeper.continuation.resume() }
  }
}
