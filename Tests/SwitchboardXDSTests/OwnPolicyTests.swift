import EchoService
import EchoTestSupport
import ServerTestSupport
import Switchboard
import SwitchboardBalancing
import SwitchboardXDS
import TestSupport
import Testing

/// Clusters with a policy that the program has (gRFC A52).
@Suite(.mayBlock, .timeLimit(.minutes(5))) struct OwnPolicyTests {
  /// A mesh whose only cluster has the policy `test.last`, and then others.
  private func mesh(_ ports: [Int], _ value: [String: Any], then others: [[String: Any]] = []) -> Mesh {
    let own: [String: Any] = [
      "@type": "type.googleapis.com/xds.type.v3.TypedStruct", "typeUrl": "type.googleapis.com/test.last",
      "value": value,
    ]
    let policies: [[String: Any]] = ([own] + others).map {
      ["typedExtensionConfig": ["name": "policy", "typedConfig": $0] as [String: Any]]
    }
    var mesh = Mesh("greeter", routes: [Mesh.route(to: "one")], clusters: [:])
    mesh.clusters = [Mesh.cluster("one", more: ["loadBalancingPolicy": ["policies": policies]])]
    mesh.endpoints = [Mesh.assignment("one", [Mesh.place("a", ports: ports)])]
    return mesh
  }

  private func servers(_ plane: PlanePeer, knows: Bool = true) async throws -> Set<String> {
    try await withMeshClient("xds:///greeter", plane.bootstrap) {
      if knows { $0.loadBalancingPolicies = [LastServer()] }
    } _: { client async throws in
      var servers: Set<String> = []
      for _ in 0..<20 { servers.insert(try await client.server()) }
      return servers
    }
  }

  @Test func theProgramsPolicyIsFoundByItsName() async throws {
    try await withMesh(servers: 2) { plane, ports async throws in
      try plane.set(mesh(ports, [:]))
      #expect(try await servers(plane) == ["s1"])
      try plane.set(mesh(ports, ["fromStart": 0]))
      #expect(try await servers(plane) == ["s0"])
    }
  }

  /// It has a client of its own, of whose resources it is no mistake.
  @Test func aChannelWithoutItHasTheNextOfTheList() async throws {
    try await withMesh(servers: 2) { plane, ports async throws in
      let roundRobin = [
        "@type": "type.googleapis.com/envoy.extensions.load_balancing_policies.round_robin.v3.RoundRobin"
      ]
      try plane.set(mesh(ports, [:], then: [roundRobin]))
      try await withMeshClient("xds:///greeter", plane.bootstrap) {
        $0.loadBalancingPolicies = [LastServer()]
      } _: { client async throws in
        #expect(try await client.server() == "s1")
        #expect(try await servers(plane, knows: false) == ["s0", "s1"])
        #expect(try await client.server() == "s1")
      }
    }
  }

  @Test func aConfigurationThatItRefusesIsRefused() async throws {
    try await withMesh(servers: 1) { plane, ports async throws in
      try plane.set(mesh(ports, ["fromStart": -1]))
      let failure = await #expect(throws: GRPCStatus.self) { _ = try await servers(plane) }
      #expect(failure?.code == .unavailable)
      #expect(
        failure?.message?.contains(
          "load_balancing_policy.policies[0].test.last.fromStart: is not a whole number of 0 or more"
        ) == true,
        "\(failure?.message ?? "")"
      )
    }
  }

  /// Calls would otherwise wait for a picker that never comes.
  @Test func aPolicyThatRefusesItsServersSaysWhy() async throws {
    try await withMesh(servers: 1) { plane, ports async throws in
      try plane.set(mesh(ports, ["fromStart": 1]))
      let failure = await #expect(throws: GRPCStatus.self) { _ = try await servers(plane) }
      #expect(failure?.code == .unavailable)
      #expect(
        failure?.message?.contains("the policy test.last refuses its servers: there is no server 1") == true
      )
    }
  }
}

/// All calls go to one server: the last, or the one at a position.
private struct LastServer: LoadBalancingPolicy {
  let name = "test.last"

  func readConfig(_ reader: ConfigReader, _ policies: PolicyRegistry) throws(GRPCStatus)
    -> LastBalancer.Config
  {
    LastBalancer.Config(position: try reader.count("fromStart"))
  }

  func makeBalancer(_ host: any BalancerHost) -> LastBalancer { LastBalancer(host) }
}

private final class LastBalancer: LoadBalancer, SubchannelObserver {
  struct Config: Hashable, Sendable {
    var position: Int?
  }

  private let host: any BalancerHost
  private var subchannel: (any Subchannel)?

  init(_ host: any BalancerHost) { self.host = host }

  func update(_ endpoints: [Endpoint], _ config: Config) throws(GRPCStatus) {
    let position = config.position ?? endpoints.count - 1
    guard endpoints.indices.contains(position) else {
      throw GRPCStatus(code: .notFound, message: "there is no server \(position)")
    }
    subchannel?.shutDown()
    let made = host.makeSubchannel(endpoints[position].addresses, SubchannelOptions(), self)
    subchannel = made
    made.connect()
  }

  func subchannelChanged(_ subchannel: any Subchannel, to state: SubchannelState) {
    if state.connectivity == .ready { host.update(.ready, ConstantPicker(.subchannel(subchannel))) }
  }

  func resolverFailed(_ status: GRPCStatus) {}
  func leaveIdle() {}
  func shutDown() { subchannel?.shutDown() }
}
