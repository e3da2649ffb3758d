import EchoService
import Switchboard
import Testing

/// Who answered how many calls, and which calls failed.
final class ReplicaAnswers: Sendable {
  struct Counts: Sendable {
    var byName: [String: Int] = [:]
    var failed = 0
    /// The first of the failures.
    var failures: [GRPCStatus] = []

    var answered: Int { byName.values.reduce(0, +) }

    subscript(_ server: ReplicaProcess) -> Int { byName[server.name] ?? 0 }

    /// Those that came after `earlier`.
    func since(_ earlier: Counts) -> Counts {
      var later = self
      for (name, count) in earlier.byName { later.byName[name, default: 0] -= count }
      later.byName = later.byName.filter { $0.value > 0 }
      later.failed -= earlier.failed
      return later
    }
  }

  private struct State {
    var counts = Counts()
    var waiters: [(condition: @Sendable (Counts) -> Bool, continuation: CheckedContinuation<Void, Never>)] =
      []
  }

  private let state = Locked(State())

  var counts: Counts { state.withLock { $0.counts } }

  func add(_ result: Result<String, GRPCStatus>) {
    let due = state.withLock { state in
      switch result {
      case .success(let name): state.counts.byName[name, default: 0] += 1
      case .failure(let status):
        state.counts.failed += 1
        if state.counts.failed <= 10 { state.counts.failures.append(status) }
      }
      let counts = state.counts
      let due = state.waiters.filter { $0.condition(counts) }
      if !due.isEmpty { state.waiters.removeAll { $0.condition(counts) } }
      return due
    }
    for waiter in due { waiter.continuation.resume() }
  }

  /// Returns once the condition holds for the calls that end from now on.
  func until(_ condition: @escaping @Sendable (Counts) -> Bool) async {
    await withCheckedContinuation { continuation in
      state.withLock { state in
        let before = state.counts
        state.waiters.append(({ condition($0.since(before)) }, continuation))
      }
    }
  }

  /// Returns once each of the servers has answered.
  func until(allOf servers: some Collection<ReplicaProcess> & Sendable) async {
    await until { counts in servers.allSatisfy { counts[$0] > 0 } }
  }

  /// Returns once a call has failed.
  func untilFailure() async {
    while counts.failed == 0 { await until { $0.answered + $0.failed > 0 } }
  }

  /// Returns once 100 calls in a row were answered by this one.
  func until(onlyOf server: ReplicaProcess) async {
    var before: Counts
    repeat {
      before = counts
      await until { $0.answered >= 100 }
    } while counts.since(before).byName.keys.contains { $0 != server.name }
  }

  /// Returns once this many calls in a row were answered.
  func untilQuiet(for calls: Int) async {
    var failed: Int
    repeat {
      failed = counts.failed
      await until { $0.answered >= calls }
    } while counts.failed > failed
  }
}

/// Callers that make one call after the other until they are stopped.
struct ReplicaCallers {
  let answers = ReplicaAnswers()
  private let stop = Stop()
  private let tasks: [Task<Void, Never>]

  init(_ count: Int, on channel: Channel, text: String = "who?", _ options: CallOptions? = nil) {
    let client = Echo_EchoClient(channel: channel)
    tasks = (0..<count).map { [answers, stop] _ in
      Task {
        while !stop.isOver { answers.add(await client.whoAnswers(text, options)) }
      }
    }
  }

  /// Stops, and expects that no call failed.
  func expectNoFailure(_ location: SourceLocation = #_sourceLocation) async {
    let counts = await finish()
    #expect(counts.failed == 0, "\(counts.failures)", sourceLocation: location)
  }

  /// The counts of all calls.
  @discardableResult
  func finish() async -> ReplicaAnswers.Counts {
    stop.set()
    for task in tasks { await task.value }
    return answers.counts
  }
}

extension Echo_EchoClient {
  /// Makes a call.
  func whoAnswers(_ text: String = "who?", _ options: CallOptions? = nil) async -> Result<String, GRPCStatus>
  {
    do { return .success(try await get(.with { $0.text = text }, callOptions: options).text) } catch {
      return .failure(GRPCStatus(describing: error))
    }
  }

  /// Who answers calls that are made one after the other, the first with the metadata `user: 0` and so on.
  func whoAnswer(_ calls: Int) async throws -> [String] {
    var names: [String] = []
    for number in 0..<calls {
      let options = CallOptions(initialMetadata: ["user": "\(number)"])
      names.append(try await whoAnswers("who?", options).get())
    }
    return names
  }
}
