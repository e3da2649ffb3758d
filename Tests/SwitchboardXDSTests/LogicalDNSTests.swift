import EchoService
import Foundation
import ServerTestSupport
import SwitchboardBalancing
import SwitchboardCall
import TestSupport
import Testing

@testable import SwitchboardXDS

/// Clusters whose servers have a name in the DNS (gRFC A37).
@Suite(.mayBlock, .timeLimit(.minutes(5))) struct LogicalDNSTests {
  private func endpoint(_ host: String, _ port: Int, more: [String: Any] = [:]) -> [String: Any] {
    let socket: [String: Any] = ["address": host, "portValue": port].merging(more) { $1 }
    return ["endpoint": ["address": ["socketAddress": socket]]]
  }

  private func cluster(_ name: String, _ places: [[String: Any]], more: [String: Any] = [:]) -> [String: Any]
  {
    let servers: [String: Any] = ["clusterName": name, "endpoints": places]
    return ["name": name, "type": "LOGICAL_DNS", "loadAssignment": servers].merging(more) { $1 }
  }

  private func cluster(_ name: String, _ host: String, _ port: Int, more: [String: Any] = [:]) -> [String:
    Any]
  {
    cluster(name, [["lbEndpoints": [endpoint(host, port)]]], more: more)
  }

  private func mesh(_ clusters: [[String: Any]], version: String = "1") -> Mesh {
    var mesh = Mesh("greeter", version: version, routes: [Mesh.route(to: "one")], clusters: [:])
    mesh.clusters = clusters
    return mesh
  }

  private func aggregate(_ clusters: [String]) -> [String: Any] {
    let config: [String: Any] = [
      "@type": "type.googleapis.com/envoy.extensions.clusters.aggregate.v3.ClusterConfig",
      "clusters": clusters,
    ]
    return ["name": "one", "clusterType": ["name": "envoy.clusters.aggregate", "typedConfig": config]]
  }

  /// With any policy, all addresses of the name are one server.
  @Test(arguments: ["localhost", "127.0.0.1"], ["ROUND_ROBIN", "RING_HASH"])
  func aNameIsLookedUp(_ host: String, _ policy: String) async throws {
    try await withMesh(servers: 1) { plane, ports async throws in
      try plane.set(mesh([cluster("one", host, ports[0], more: ["lbPolicy": policy])]))
      try await withMeshClient("xds:///greeter", plane.bootstrap) { client async throws in
        #expect(try await client.server() == "s0")
      }
      #expect(try plane.answersOfGRPC(calls: 10) == ["s0": 10])
    }
  }

  @Test(arguments: [true, false])
  func anAggregateMayHaveNames(_ works: Bool) async throws {
    try await withMesh(servers: 2) { plane, ports async throws in
      var mesh = mesh([aggregate(["servers", "name"]), cluster("name", "localhost", ports[1])])
      mesh.clusters.append(Mesh.cluster("servers"))
      // A port without a server, if it is not to work.
      mesh.endpoints = [Mesh.assignment("servers", ports: [works ? ports[0] : 1])]
      try plane.set(mesh)
      let server = works ? "s0" : "s1"
      try await withMeshClient("xds:///greeter", plane.bootstrap) { client async throws in
        #expect(try await client.server() == server)
      }
      #expect(try plane.answersOfGRPC(calls: 10) == [server: 10])
    }
  }

  private static let place = #"{"lbEndpoints": [{"endpoint": {"address": {"socketAddress": SOCKET}}}]}"#
  private static let socket = #"{"address": "localhost", "portValue": PORT}"#

  /// Both clients take the same clusters, and refuse the others.
  @Test(
    arguments: [
      ("[PLACE]", nil), ("[]", "endpoints: are 0, and not one"),
      ("[PLACE, PLACE]", "endpoints: are 2, and not one"),
      (#"[{"lbEndpoints": []}]"#, "endpoints[0].lb_endpoints: are 0, and not one"),
      (
        #"[{"lbEndpoints": [{"endpoint": {"address": {"pipe": {"path": "/a"}}}}]}]"#,
        "endpoints[0].lb_endpoints[0].endpoint.address.pipe: is not supported"
      ),
      (#"[{"lbEndpoints": [{}]}]"#, "endpoints[0].lb_endpoints[0].endpoint.address: is missing"),
      (
        #"[{"lbEndpoints": [{"endpoint": {"address": {"socketAddress": {"address": "localhost"}}}}]}]"#,
        "endpoints[0].lb_endpoints[0].endpoint.address.socket_address.port_value: is missing or above 65535"
      ),
      (
        #"[{"lbEndpoints": [{"endpoint": {"address": {"socketAddress": RESOLVED}}}]}]"#,
        "endpoints[0].lb_endpoints[0].endpoint.address.socket_address.resolver_name: is not supported"
      ),
    ] as [(String, String?)]
  )
  func onlyOneNameIsTaken(_ places: String, _ fault: String?) async throws {
    try await withMesh(servers: 1) { plane, ports async throws in
      let list = try #require(try parsed(places, ports[0]))
      try plane.set(mesh([cluster("one", list)]))
      let answer = try await withMeshClient("xds:///greeter", plane.bootstrap) { client async throws in
        let answer = try? await client.server()
        // The client that ends takes with it what it has not sent.
        let ours = try plane.nextAnswer("clusters", ["one"])
        #expect(ours.reason == fault.map { "one: load_assignment.\($0)" } ?? "")
        return answer
      }
      #expect(answer == (fault == nil ? "s0" : nil))
      #expect(try plane.answersOfGRPC(calls: 1) == [answer ?? "UNAVAILABLE": 1])
    }
  }

  private func parsed(_ text: String, _ port: Int) throws -> [[String: Any]]? {
    let resolved = #"{"address": "localhost", "portValue": PORT, "resolverName": "own"}"#
    let text = text.replacingOccurrences(of: "PLACE", with: Self.place)
      .replacingOccurrences(of: "SOCKET", with: Self.socket)
      .replacingOccurrences(of: "RESOLVED", with: resolved)
      .replacingOccurrences(of: "PORT", with: "\(port)")
    return try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [[String: Any]]
  }

  @Test func withoutAnyNameThereIsNoCluster() async throws {
    let plane = try PlanePeer()
    try plane.set(mesh([["name": "one", "type": "LOGICAL_DNS"]]))
    try await withMeshClient("xds:///greeter", plane.bootstrap) { client async throws in
      await #expect(throws: GRPCStatus.self) { try await client.server() }
      #expect(try plane.nextAnswer("clusters", ["one"]).reason == "one: load_assignment: is missing")
    }
    #expect(try plane.answersOfGRPC(calls: 1) == ["UNAVAILABLE": 1])
  }

  /// Finds what the test says, each time another.
  private final class Answers: Resolver {
    final class Lookup: Resolution {
      private let answers: Answers
      private let updates: ResolverUpdates

      init(_ answers: Answers, _ updates: ResolverUpdates) {
        self.answers = answers
        self.updates = updates
        resolveAgain()
      }

      func resolveAgain() { updates.report(answers.next()) }
      func stop() { answers.stopped.withLock { $0 += 1 } }
    }

    let schemes = ["dns"]
    let stopped = Locked(0)
    let targets = Locked<[String]>([])
    private let results: Locked<[ResolverResult]>

    init(_ results: [ResolverResult]) { self.results = Locked(results) }

    /// The last one stays.
    func next() -> ResolverResult {
      results.withLock { $0.count > 1 ? $0.removeFirst() : $0[0] }
    }

    func start(_ target: Target, _ updates: ResolverUpdates) -> any Resolution {
      targets.withLock { $0.append(target.text) }
      return Lookup(self, updates)
    }
  }

  private func found(_ ports: Int...) -> ResolverResult {
    ResolverResult(
      endpoints: ports.compactMap { EndpointAddress(ip: "127.0.0.1", port: UInt16($0)) }.map {
        Endpoint([$0])
      }
    )
  }

  private func withClient(
    _ plane: PlanePeer,
    _ answers: Answers,
    _ body: (Echo_EchoClient) async throws -> Void
  ) async throws {
    var resolver = XDSResolver(bootstrap: plane.bootstrap, logger: .quiet)
    resolver.names = answers
    try await withMeshClient("xds:///greeter", plane.bootstrap, { $0.resolvers = [resolver] }, body)
  }

  /// The first address has no server, which is a reason to look again.
  @Test func aNameIsLookedUpAgainWhenItsServersDoNotWork() async throws {
    try await withMesh(servers: 1) { plane, ports async throws in
      try plane.set(mesh([cluster("one", "name.example", 80)]))
      let answers = Answers([found(1), found(ports[0])])
      try await withClient(plane, answers) { client async throws in
        while (try? await client.server()) != "s0" { try Task.checkCancellation() }
        #expect(answers.targets.withLock { $0 } == ["dns:///name.example:80"])
        // Another name is another lookup, and the old one ends.
        try plane.set(mesh([cluster("one", "::1", 81)], version: "2"))
        while answers.targets.withLock({ $0.count }) < 2 { try await Task.sleep(for: .milliseconds(1)) }
        #expect(answers.targets.withLock { $0 } == ["dns:///name.example:80", "dns:///[::1]:81"])
        while answers.stopped.withLock({ $0 }) == 0 { try await Task.sleep(for: .milliseconds(1)) }
      }
      #expect(answers.stopped.withLock { $0 } == 2)
    }
  }

  @Test func callsSayWhyANameHasNoServers() async throws {
    let plane = try PlanePeer()
    try plane.set(mesh([cluster("one", "name.example", 80)]))
    let lost = GRPCStatus(code: .unavailable, message: "there is no name.example")
    try await withClient(plane, Answers([ResolverResult(failure: lost)])) { client async throws in
      let failure = await #expect(throws: GRPCStatus.self) { try await client.server() }
      #expect(failure?.message == "the cluster one: there is no name.example (xDS node ID: test-client)")
    }
    try await withClient(plane, Answers([found()])) { client async throws in
      let failure = await #expect(throws: GRPCStatus.self) { try await client.server() }
      #expect(failure?.message == "the cluster one: it has no servers (xDS node ID: test-client)")
    }
  }

  /// All addresses are tried, the next one if one does not work.
  @Test func allAddressesAreOneServer() async throws {
    try await withMesh(servers: 2) { plane, ports async throws in
      try plane.set(mesh([cluster("one", "name.example", 80)]))
      try await withClient(plane, Answers([found(1, ports[0], ports[1])])) { client async throws in
        for _ in 0..<10 { #expect(try await client.server() == "s0") }
      }
    }
  }
}
