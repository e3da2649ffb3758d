import Foundation
import Switchboard

/// How many callers tests of replicas have, and for how long: few and short, or what `scripts/test/soak-replicas` asks for.
struct ReplicaScale {
  static let ofProcess: ReplicaScale = {
    let seconds = ProcessInfo.processInfo.environment["SWITCHBOARD_REPLICA_SECONDS"].flatMap { Int($0) }
    return ReplicaScale(duration: .seconds(seconds ?? 0), callers: seconds == nil ? 16 : 64)
  }()

  let duration: Duration
  let callers: Int

  var isLong: Bool { duration > .zero }

  /// Repeats what happens to the servers until the time is over, and prints how long recovering took in a long run.
  func repeating(_ what: String, atLeast rounds: Int = 1, _ body: (Recoveries) async throws -> Void)
    async throws
  {
    let end = ContinuousClock.now + duration
    let recoveries = Recoveries()
    var round = 0
    while round < rounds || ContinuousClock.now < end {
      round += 1
      try await body(recoveries)
    }
    if isLong { print("recovery: \(what): \(recoveries)") }
  }
}

/// How long the clients needed after each event.
final class Recoveries: CustomStringConvertible {
  private var times: [Duration] = []

  func measure(_ recovering: () async throws -> Void) async throws {
    let start = ContinuousClock.now
    try await recovering()
    times.append(ContinuousClock.now - start)
  }

  var description: String {
    let sorted = times.sorted()
    guard let last = sorted.last else { return "none" }
    return
      "\(times.count) times, median \(milliseconds(sorted[sorted.count / 2])) ms, longest \(milliseconds(last)) ms"
  }

  private func milliseconds(_ time: Duration) -> Int { Int(time / .milliseconds(1)) }
}

/// The warnings of a channel.
final class WarningLog: LogHandler {
  private struct State {
    var messages: [String] = []
    var waiters: [(part: String, continuation: CheckedContinuation<Void, Never>)] = []
  }

  private let state = Locked(State())

  func log(_ level: LogLevel, _ message: String, _ metadata: [String: String]) {
    let due = state.withLock { state in
      state.messages.append(message)
      defer { state.waiters.removeAll { message.contains($0.part) } }
      return state.waiters.filter { message.contains($0.part) }
    }
    for waiter in due { waiter.continuation.resume() }
  }

  /// Returns once a message has come that contains `part`.
  func until(_ part: String) async {
    await withCheckedContinuation { continuation in
      let hasArrived = state.withLock { state in
        if state.messages.contains(where: { $0.contains(part) }) { return true }
        state.waiters.append((part, continuation))
        return false
      }
      if hasArrived { continuation.resume() }
    }
  }
}
