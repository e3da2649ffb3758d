import BenchService
import Switchboard

/// Ping-pong: sends each message after the response to the previous one.
struct BidiBenchmark {
  private let messages: Int
  private let connections: Connections

  init(_ arguments: inout Arguments) throws {
    let target = try arguments.next("HOST:PORT")
    messages = try arguments.nextCount("MESSAGES")
    connections = Connections(target: target, flags: &arguments)
    try arguments.end()
  }

  func run() async throws -> Figures {
    let clients = try await connections.open(1)
    let (latencies, elapsed) = try await connections.run(on: clients[0]) {
      _ = try await play(messages / 10 + 1, on: clients[0])
      let start = ContinuousClock.now
      let latencies = try await play(messages, on: clients[0])
      return (latencies, ContinuousClock.now - start)
    }
    await clients.close()
    var figures = Figures("bidi")
    figures.addRate("roundtrips/s", latencies.count, per: elapsed)
    figures.add(latencies)
    figures.addFailed(messages - latencies.count)
    return figures
  }

  /// Makes round trips and returns the latencies of those with the expected response.
  private func play(_ count: Int, on client: Bench_BenchClient) async throws -> Latencies {
    var latencies = Latencies()
    let ping = Connections.greeting
    let call = client.makeBidiCall()
    var responses = call.responseStream.makeAsyncIterator()
    var start = ContinuousClock.now
    for _ in 0..<count {
      try await call.requestStream.send(ping)
      guard let pong = try await responses.next(), pong.text == ping.text else { break }
      let now = ContinuousClock.now
      latencies.add(now - start)
      start = now
    }
    call.requestStream.finish()
    while try await responses.next() != nil {}
    return latencies
  }
}
