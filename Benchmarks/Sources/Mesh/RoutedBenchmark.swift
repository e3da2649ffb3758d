import BenchService
import Switchboard
import SwitchboardXDS

/// What a call through the routes and the clusters of a control plane costs its client, beside calls without them: processor
/// time. The channels take turns, so that other load on the machine affects all of them.
struct RoutedBenchmark {
  private static let callers = 16

  private let server: String
  private let calls: Int
  private let repeats: Int

  init(_ arguments: inout Arguments) throws {
    server = try arguments.next("HOST:PORT")
    calls = try arguments.nextCount("CALLS")
    repeats = try arguments.nextCount("REPEATS")
    try arguments.end()
  }

  /// One line for each channel: the median of the repeats, in nanoseconds for a call, and the median difference to the channel
  /// `balanced` in the same round, which has as many connections.
  func run() async throws -> String {
    let group = try LoopGroup()
    let port = server.split(separator: ":").last.map(String.init) ?? ""
    let addresses = (1...3).map { "127.0.0.\($0):\(port)" }.joined(separator: ",")
    var balancing = ChannelOptions()
    balancing.serviceConfig = try ServiceConfig(loadBalancing: [LoadBalancingConfig("round_robin")])
    var routing = ChannelOptions()
    routing.resolvers = [XDSResolver()]
    let channels = try [
      ("direct", server, ChannelOptions()), ("balanced", "ipv4:\(addresses)", balancing),
      ("routed", "xds:///bench", routing),
    ].map { name, target, options in
      var options = options
      options.security = .plaintext
      return (
        name: name,
        client: Bench_BenchClient(channel: try Channel(target: target, options: options, group: group))
      )
    }
    for (_, client) in channels { try await makeCalls(client, calls) }
    var times: [String: [Double]] = [:]
    for _ in 0..<repeats {
      for (name, client) in channels {
        let start = ProcessTime.nanoseconds
        try await makeCalls(client, calls)
        times[name, default: []].append((ProcessTime.nanoseconds - start) / Double(calls))
      }
    }
    let lines = channels.map { name, _ in
      let (own, base) = (times[name] ?? [], times["balanced"] ?? [])
      return "\(name) cpu_ns=\(median(own)) added_ns=\(median(zip(own, base).map { $0 - $1 }))"
    }
    for (_, client) in channels { await client.channel.shutDown(grace: .zero) }
    return lines.joined(separator: "\n")
  }

  private func median(_ values: [Double]) -> Int { Int(values.sorted()[values.count / 2].rounded()) }

  private func makeCalls(_ client: Bench_BenchClient, _ count: Int) async throws {
    let share = max(1, count / Self.callers)
    try await withThrowingTaskGroup(of: Void.self) { group in
      for _ in 0..<Self.callers {
        group.addTask(executorPreference: client.channel.eventLoop) {
          for _ in 0..<share { _ = try await client.unary(Connections.greeting) }
        }
      }
      try await group.waitForAll()
    }
  }
}
