import BenchService
import Switchboard

/// Reads one stream of messages of equal size.
struct StreamBenchmark {
  private let messages: Int
  private let bytes: Int
  private let connections: Connections

  init(_ arguments: inout Arguments) throws {
    let target = try arguments.next("HOST:PORT")
    messages = try arguments.nextCount("MESSAGES")
    bytes = try arguments.nextNumber("BYTES")
    connections = Connections(target: target, flags: &arguments)
    try arguments.end()
  }

  func run() async throws -> Figures {
    let clients = try await connections.open(1, largestResponse: bytes)
    let (received, elapsed) = try await connections.run(on: clients[0]) {
      _ = try await read(messages / 10 + 1, from: clients[0])
      let start = ContinuousClock.now
      let received = try await read(messages, from: clients[0])
      return (received, ContinuousClock.now - start)
    }
    await clients.close()
    var figures = Figures("stream")
    figures.addRate("msgs/s", received, per: elapsed)
    figures.addRate("MB/s", received * bytes / 1_000_000, per: elapsed)
    figures.addFailed(messages - received)
    return figures
  }

  /// Returns how many messages arrived as expected.
  private func read(_ count: Int, from client: Bench_BenchClient) async throws -> Int {
    var received = 0
    let plan = Bench_Plan.with {
      $0.messages = UInt32(clamping: count)
      $0.bytes = UInt32(clamping: bytes)
    }
    for try await chunk in client.serverStream(plan) where chunk.payload.count == bytes { received += 1 }
    return received
  }
}
