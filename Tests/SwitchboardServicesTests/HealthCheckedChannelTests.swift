import CallTestSupport
import ServerTestSupport
import Switchboard
import SwitchboardServices
import Testing

/// Channels that ask servers for their health (gRFC A17). Who answers is seen from the services that it lists.
@Suite(.timeLimit(.minutes(5))) struct HealthCheckedChannelTests {
  private struct Pair {
    let healths: [HealthService]
    let servers: [Server]
    let client: Grpc_Health_V1_HealthClient

    static func with(
      withHealth: [Bool] = [true, true],
      _ body: (Pair) async throws -> Void
    ) async throws {
      let healths = [HealthService(), HealthService()]
      for (number, health) in healths.enumerated() {
        health.set(.serving, for: "name \(number)")
        health.set(.serving, for: "shop.Shop")
      }
      let providers: [[any CallHandlerProvider]] = zip(healths, withHealth).map { health, isThere in
        isThere ? [health] : []
      }
      try await withServers(providers) { servers, addresses async throws in
        try await withChannel(to: "static:///shop", options: try options(addresses)) { channel async throws in
          let client = Grpc_Health_V1_HealthClient(channel: channel)
          try await body(Pair(healths: healths, servers: servers, client: client))
        }
      }
    }

    private static func options(_ addresses: [SocketAddress]) throws -> ChannelOptions {
      var options = ChannelOptions()
      options.security = .plaintext
      options.resolvers = [
        StaticResolver(addresses.map { Endpoint([.ipv4(0x7F00_0001, port: UInt16(clamping: $0.port))]) })
      ]
      options.serviceConfig = try ServiceConfig(
        json:
          #"{"loadBalancingConfig": [{"round_robin": {}}], "healthCheckConfig": {"serviceName": "shop.Shop"}}"#
      )
      return options
    }

    /// The number of the server that answers.
    func whoAnswers() async throws -> Int {
      try await client.list(Grpc_Health_V1_HealthListRequest()).statuses["name 0"] != nil ? 0 : 1
    }

    func waitUntilAllAnswer(_ expected: Set<Int>) async throws {
      var latest: [Int] = []
      while latest.count < 6 || Set(latest.suffix(6)) != expected { latest.append(try await whoAnswers()) }
    }
  }

  @Test func onlyHealthyServersGetCalls() async throws {
    try await Pair.with { pair async throws in
      try await pair.waitUntilAllAnswer([0, 1])
      pair.healths[0].set(.notServing, for: "shop.Shop")
      try await pair.waitUntilAllAnswer([1])
      pair.healths[0].set(.serving, for: "shop.Shop")
      try await pair.waitUntilAllAnswer([0, 1])
    }
  }

  @Test func withoutAHealthyServerCallsFailWithTheReason() async throws {
    try await Pair.with { pair async throws in
      for health in pair.healths { health.set(.notServing, for: "shop.Shop") }
      var failure: GRPCStatus?
      while failure == nil { failure = await status { _ = try await pair.whoAnswers() } }
      #expect(failure?.code == .unavailable)
      #expect(failure?.message?.contains("is not healthy for the service shop.Shop: NOT_SERVING") == true)
    }
  }

  @Test func aServerWithoutTheServiceIsHealthy() async throws {
    try await Pair.with(withHealth: [true, false]) { pair async throws in
      // The second answers that it does not know the method, so it did get the call.
      while await status(of: { _ = try await pair.whoAnswers() })?.code != .unimplemented {}
    }
  }

  /// A watch is no call of the channel's, and does not keep a server from draining.
  @Test func aWatchDoesNotKeepAConnectionOpen() async throws {
    try await Pair.with { pair async throws in
      try await pair.waitUntilAllAnswer([0, 1])
      await pair.servers[0].shutDown(grace: .seconds(3600))
      try await pair.waitUntilAllAnswer([1])
      await pair.client.channel.shutDown(grace: .seconds(3600))
    }
  }
}
