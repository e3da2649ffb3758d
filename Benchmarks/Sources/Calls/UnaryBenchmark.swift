import BenchService
import Switchboard

/// Several callers, each making one call after the other.
struct UnaryBenchmark {
  private let seconds: Int
  private let callers: Int
  private let connectionCount: Int
  private let connections: Connections

  init(_ arguments: inout Arguments) throws {
    let target = try arguments.next("HOST:PORT")
    seconds = try arguments.nextCount("SECONDS")
    callers = try arguments.nextCount("CALLERS")
    connectionCount = try arguments.nextCount("CONNECTIONS")
    connections = Connections(target: target, flags: &arguments)
    try arguments.end()
  }

  func run() async throws -> Figures {
    let clients = try await connections.open(connectionCount)
    _ = await run(clients, for: .milliseconds(300))
    let start = ContinuousClock.now
    let tally = await run(clients, for: .seconds(seconds))
    let elapsed = ContinuousClock.now - start
    await clients.close()
    var figures = Figures("unary")
    figures.addRate("calls/s", tally.latencies.count - tally.failed, per: elapsed)
    figures.add(tally.latencies)
    figures.addFailed(tally.failed)
    return figures
  }

  private func run(_ clients: [Bench_BenchClient], for length: Duration) async -> Tally {
    let end = ContinuousClock.now + length
    return await withTaskGroup(of: Tally.self) { group in
      for caller in 0..<callers {
        let client = clients[caller % clients.count]
        group.addTask(executorPreference: connections.executor(of: client)) {
          await Tally.ofCalls(client, until: end)
        }
      }
      return await group.reduce(into: Tally()) { $0.add($1) }
    }
  }

  /// The results of one caller.
  private struct Tally {
    var latencies = Latencies()
    var failed = 0

    static func ofCalls(_ client: Bench_BenchClient, until end: ContinuousClock.Instant) async -> Tally {
      var tally = Tally()
      let request = Connections.greeting
      var start = ContinuousClock.now
      while start < end {
        let response = try? await client.unary(request)
        if response?.text != request.text { tally.failed += 1 }
        let now = ContinuousClock.now
        tally.latencies.add(now - start)
        start = now
      }
      return tally
    }

    mutating func add(_ other: Tally) {
      latencies.add(other.latencies)
      failed += other.failed
    }
  }
}
