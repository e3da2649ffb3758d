import Switchboard

/// What the calls of a client came to.
struct Answers: Sendable {
  /// The calls that each server answered.
  var counts: [String: Int] = [:]
  var failed = 0
  /// Why the first of those that failed did.
  var reason: GRPCStatus?

  /// Adds those of another caller.
  mutating func add(_ other: Answers) {
    counts.merge(other.counts, uniquingKeysWith: +)
    failed += other.failed
    reason = reason ?? other.reason
  }
}

/// Several callers, each of which makes one call after the other.
struct Callers {
  let client: Replicas_ReplicaClient
  let options: CallOptions

  /// Divides the calls among the callers.
  func make(_ calls: Int, by callers: Int) async -> Answers {
    await withTaskGroup(of: Answers.self) { group in
      for number in 0..<callers {
        let share = calls / callers + (number < calls % callers ? 1 : 0)
        group.addTask { await one(share) }
      }
      return await group.reduce(into: Answers()) { $0.add($1) }
    }
  }

  private func one(_ calls: Int) async -> Answers {
    var answers = Answers()
    for _ in 0..<calls {
      do {
        let reply = try await client.greet(Replicas_GreetRequest(), callOptions: options)
        answers.counts[reply.server, default: 0] += 1
      } catch {
        answers.failed += 1
        answers.reason = answers.reason ?? GRPCStatus(describing: error)
      }
    }
    return answers
  }
}
