import BenchService
import Switchboard

/// The clients that the callers of a benchmark share, one connection each.
struct Connections {
  private let target: String
  private let isSecure: Bool
  private let isLowLatency: Bool
  private let runsOnLoop: Bool
  private let isBalanced: Bool

  init(target: String, flags arguments: inout Arguments) {
    self.target = target
    isSecure = arguments.take(.tls)
    isLowLatency = arguments.take(.lowLatency)
    runsOnLoop = arguments.take(.onLoop)
    isBalanced = arguments.take(.roundRobin)
  }

  /// Clients that have made a call, so that the measurement does not include connecting.
  func open(_ count: Int, largestResponse: Int = 0) async throws -> [Bench_BenchClient] {
    var options = ChannelOptions()
    options.responseSizeLimit = max(options.responseSizeLimit, largestResponse + 64)
    if isSecure { options.security = .tls(BenchTLS.trust) }
    options.lowLatency = isLowLatency
    if isBalanced {
      options.serviceConfig = try ServiceConfig(loadBalancing: [LoadBalancingConfig("round_robin")])
    }
    let group = try LoopGroup()
    var clients: [Bench_BenchClient] = []
    for _ in 0..<count {
      let client = Bench_BenchClient(channel: try Channel(target: target, options: options, group: group))
      _ = try await client.unary(Self.greeting)
      clients.append(client)
    }
    return clients
  }

  /// The executor of a client's callers; `nil` means the global pool.
  func executor(of client: Bench_BenchClient) -> (any TaskExecutor)? {
    runsOnLoop ? client.channel.eventLoop : nil
  }

  /// Makes calls on the executor that the flags select.
  func run<Result: Sendable>(
    on client: Bench_BenchClient,
    _ body: @escaping @Sendable () async throws -> Result
  ) async throws -> Result {
    try await Task(executorPreference: executor(of: client)) { try await body() }.value
  }

  static let greeting = Bench_Text.with { $0.text = "Hello, gRPC!" }
}

extension [Bench_BenchClient] {
  func close() async {
    for client in self { await client.channel.shutDown(grace: .zero) }
  }
}
