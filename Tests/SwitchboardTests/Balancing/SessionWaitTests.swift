import EchoService
import EchoTestSupport
import ServerTestSupport
import Switchboard
import SwitchboardBalancing
import SwitchboardCall
import TestSupport
import Testing

/// Where calls of sessions wait for servers that are connecting.
@Suite(.timeLimit(.minutes(1))) struct SessionWaitTests {
  private struct Echo: EchoingProvider {}

  private final class Session: CallSession {
    func cookie(from server: String) -> String? { nil }
  }

  private final class Router: CallRouter {
    let isSession: Bool

    init(_ isSession: Bool) { self.isSession = isSession }

    func route(_ method: MethodDescriptor, _ metadata: HPACKHeaders) -> CallRoute {
      CallRoute(to: "", session: isSession ? Session() : nil)
    }
  }

  /// Finds servers that are all one, under many addresses, and a policy that sends each call where it says.
  private struct ManyAddresses: RoutingResolver {
    private final class Found: Resolution {
      func resolveAgain() {}
      func stop() {}
    }

    let addresses: [EndpointAddress]
    let isSession: Bool
    let policy: Addressed

    var schemes: [String] { ["many"] }

    func start(_ target: Target, _ updates: ResolverUpdates) -> any Resolution {
      var result = ResolverResult(endpoints: addresses.map { Endpoint([$0]) })
      result.policy = PolicyChoice(policy, Addressed.Balancer.Config())
      result.router = Router(isSession)
      updates.eventLoop.execute { [result] in updates.report(result) }
      return Found()
    }
  }

  private struct Addressed: LoadBalancingPolicy {
    let picks: Counter
    let name = "test.addressed"

    func readConfig(_ reader: ConfigReader, _ policies: PolicyRegistry) -> Balancer.Config {
      Balancer.Config()
    }

    func makeBalancer(_ host: any BalancerHost) -> Balancer { Balancer(host, picks) }

    final class Balancer: LoadBalancer, SubchannelObserver, Picker {
      struct Config: Hashable, Sendable {}

      private let host: any BalancerHost
      private let picks: Counter
      private var servers: [any Subchannel] = []

      init(_ host: any BalancerHost, _ picks: Counter) { (self.host, self.picks) = (host, picks) }

      func update(_ endpoints: [Endpoint], _ config: Config) {
        servers = endpoints.map { host.makeSubchannel($0.addresses, SubchannelOptions(), self) }
        host.update(.ready, self)
      }

      func resolverFailed(_ status: GRPCStatus) {}
      func leaveIdle() {}
      func shutDown() { for server in servers { server.shutDown() } }
      func subchannelChanged(_ subchannel: any Subchannel, to state: SubchannelState) {
        host.update(.ready, self)
      }

      func pick(_ call: any CallToPick) -> Pick {
        picks.add(1)
        let server = servers[call.metadata.first(name: "to").flatMap { Int($0) } ?? 0]
        server.connect()
        return .subchannel(server)
      }
    }
  }

  /// The number of picks for calls that begin at once, each to a server of its own.
  private func picks(_ count: Int, isSession: Bool = true) async throws -> Int {
    let server = try Server(providers: [Echo()])
    let picks = Counter()
    let body: () async throws -> Void = {
      let port = try server.bind(host: "0.0.0.0", port: 0).port
      let resolver = ManyAddresses(
        addresses: (1...count).map { .ipv4(0x7F00_0000 + UInt32($0), port: UInt16(port)) },
        isSession: isSession,
        policy: Addressed(picks: picks)
      )
      var options = ChannelOptions()
      options.resolvers = [resolver]
      options.security = .plaintext
      try await withChannel(to: "many:x", options: options) { channel async throws in
        let client = Echo_EchoClient(channel: channel)
        try await withThrowingTaskGroup(of: Void.self) { group in
          for number in 0..<count {
            group.addTask {
              var options = CallOptions()
              options.initialMetadata.add(name: "to", value: "\(number)")
              _ = try await client.get(Echo_EchoRequest(), callOptions: options)
            }
          }
          try await group.waitForAll()
        }
      }
    }
    try await withEnd({ await server.shutDown(grace: .zero) }, body)
    return picks.value
  }

  @Test func eachCallIsPlacedOnce() async throws {
    #expect(try await picks(40) == 40)
    #expect(try await picks(80) == 80)
  }

  /// Others may find another server that is ready first.
  @Test func otherCallsAskEachPicker() async throws {
    #expect(try await picks(10, isSession: false) > 10)
  }
}
