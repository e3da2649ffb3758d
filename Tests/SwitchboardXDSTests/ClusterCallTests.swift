import EchoService
import EchoTestSupport
import ServerTestSupport
import Switchboard
import SwitchboardXDS
import TestSupport
import Testing

/// What clusters and their endpoints make of calls.
@Suite(.mayBlock, .timeLimit(.minutes(5))) struct ClusterCallTests {
  /// A mesh whose calls go to one cluster.
  private func mesh(
    _ places: [[String: Any]],
    cluster: [String: Any] = [:],
    more: [String: Any] = [:],
    name: String = "one"
  ) -> Mesh {
    var mesh = Mesh("greeter", routes: [Mesh.route(to: name)], clusters: [:])
    mesh.clusters = [Mesh.cluster(name, more: cluster)]
    mesh.endpoints = [Mesh.assignment(name, places, more: more)]
    return mesh
  }

  private func count(_ client: Echo_EchoClient, of server: String, in calls: Int) async throws -> Int {
    var count = 0
    for _ in 0..<calls where try await client.server() == server { count += 1 }
    return count
  }

  @Test func placesGetCallsByWeight() async throws {
    try await withMesh(servers: 2) { plane, ports async throws in
      try plane.set(
        mesh([Mesh.place("a", ports: [ports[0]]), Mesh.place("b", ports: [ports[1]], weight: 3)])
      )
      try await withMeshClient("xds:///greeter", plane.bootstrap) { client async throws in
        // Both are connected before the shares are counted.
        while try await client.server() != "s0" { try Task.checkCancellation() }
        while try await client.server() != "s1" { try Task.checkCancellation() }
        let first = try await count(client, of: "s0", in: 1200)
        #expect(abs(first - 300) < 75, "\(first) of 1200")
      }
    }
  }

  @Test func aPlaceWithoutServersDoesNotKeepTheOthersFromCalls() async throws {
    try await withMesh(servers: 1) { plane, ports async throws in
      try plane.set(mesh([Mesh.place("a", ports: [ports[0]])]))
      try await withMeshClient("xds:///greeter", plane.bootstrap) { client async throws in
        #expect(try await client.server() == "s0")
        try plane.set(mesh([Mesh.place("a", ports: [ports[0]]), Mesh.place("b", ports: [])]))
        for _ in 0..<50 { #expect(try await client.server() == "s0") }
      }
      // Nor when it is so from the start.
      try await withMeshClient("xds:///greeter", plane.bootstrap) { client async throws in
        #expect(try await client.server() == "s0")
      }
    }
  }

  @Test func theNextPriorityTakesOver() async throws {
    try await withMesh(servers: 2) { plane, ports async throws in
      try plane.set(mesh([Mesh.place("a", ports: [1]), Mesh.place("a", ports: [ports[1]], priority: 1)]))
      try await withMeshClient("xds:///greeter", plane.bootstrap) { client async throws in
        #expect(try await client.server() == "s1")
        try plane.set(
          mesh([Mesh.place("a", ports: [ports[0]]), Mesh.place("a", ports: [ports[1]], priority: 1)])
        )
        while try await client.server() != "s0" { try Task.checkCancellation() }
      }
    }
  }

  @Test func aShareIsDropped() async throws {
    try await withMesh(servers: 1) { plane, ports async throws in
      let drop: [String: Any] = ["category": "too hot", "dropPercentage": ["numerator": 25]]
      let policy: [String: Any] = ["policy": ["dropOverloads": [drop]]]
      try plane.set(mesh([Mesh.place("a", ports: [ports[0]])], more: policy))
      try await withMeshClient("xds:///greeter", plane.bootstrap) { client async throws in
        var dropped = 0
        for _ in 0..<1200 {
          do {
            _ = try await client.server()
          } catch let status as GRPCStatus {
            #expect(status.message == "the control plane has calls dropped: too hot")
            dropped += 1
          }
        }
        #expect(abs(dropped - 300) < 75, "\(dropped) of 1200")
      }
    }
  }

  @Test func aHashPolicyKeepsAUserAtAServer() async throws {
    try await withMesh(servers: 4) { plane, ports async throws in
      var ring = mesh([Mesh.place("a", ports: ports)], cluster: ["lbPolicy": "RING_HASH"])
      let hash: [[String: Any]] = [["header": ["headerName": "user"]]]
      ring.routes = [
        Mesh.table(
          "routes-of-greeter",
          [Mesh.host(["*"], [Mesh.route(to: "one", more: ["hashPolicy": hash])])]
        )
      ]
      try plane.set(ring)
      try await withMeshClient("xds:///greeter", plane.bootstrap) { client async throws in
        var homes: [String: Set<String>] = [:]
        for _ in 0..<5 {
          for user in 0..<24 {
            homes["\(user)", default: []].insert(try await client.server([("user", "\(user)")]))
          }
        }
        #expect(homes.values.allSatisfy { $0.count == 1 })
        #expect(Set(homes.values.flatMap(\.self)).count > 1)
      }
    }
  }

  /// The calls of all channels count together, but those of a cluster with other endpoints do not.
  @Test func noMoreCallsAreMadeAtOnceThanTheClusterAllows() async throws {
    try await withMesh(servers: 1) { plane, ports async throws in
      let breaker: [String: Any] = ["circuitBreakers": ["thresholds": [["maxRequests": 1]]]]
      let places = [Mesh.place("a", ports: [ports[0]])]
      // No other test has a cluster of this name: its calls would count.
      var mesh = mesh(places, cluster: breaker, name: "limited")
      try plane.set(mesh)
      try await withMeshClient("xds:///greeter", plane.bootstrap) { first async throws in
        try await withMeshClient("xds:///greeter", plane.bootstrap) { second async throws in
          try await first.outlive {
            for client in [first, second] {
              let failure = await #expect(throws: GRPCStatus.self) { try await client.server() }
              #expect(failure?.message == "the cluster has as many calls as the control plane allows: 1")
            }
            let source: [String: Any] = ["ads": [:] as [String: Any]]
            mesh.version = "2"
            mesh.clusters[0]["edsClusterConfig"] = ["edsConfig": source, "serviceName": "others"]
            mesh.endpoints.append(Mesh.assignment("others", places))
            try plane.set(mesh)
            while (try? await second.server()) != "s0" { try Task.checkCancellation() }
          }
        }
      }
    }
  }

  private func aggregate(_ clusters: [String], more: [String: Any] = [:]) -> [String: Any] {
    let config: [String: Any] = [
      "@type": "type.googleapis.com/envoy.extensions.clusters.aggregate.v3.ClusterConfig",
      "clusters": clusters,
    ]
    let type: [String: Any] = ["name": "envoy.clusters.aggregate", "typedConfig": config]
    return ["name": "all", "clusterType": type].merging(more) { $1 }
  }

  @Test func anAggregateGoesOnToItsNextCluster() async throws {
    try await withMesh(servers: 2) { plane, ports async throws in
      var mesh = Mesh("greeter", routes: [Mesh.route(to: "all")], clusters: ["one": [1], "two": [ports[1]]])
      mesh.clusters.append(aggregate(["one", "two"]))
      try plane.set(mesh)
      try await withMeshClient("xds:///greeter", plane.bootstrap) { client async throws in
        #expect(try await client.server() == "s1")
      }
    }
  }

  /// An aggregate, which says what would keep all calls of a channel at one server, of a cluster whose servers cannot be reached and one
  /// with `round_robin`. All calls to one of them may be dropped.
  private func meshOfAggregate(_ ports: [Int], dropping: String? = nil) -> Mesh {
    let hash: [[String: Any]] = [["filterState": ["key": "io.grpc.channel_id"]]]
    let route = Mesh.route(to: "all", more: ["hashPolicy": hash])
    var mesh = Mesh("greeter", routes: [route], clusters: [:])
    mesh.clusters = [
      Mesh.cluster("one"), Mesh.cluster("two"),
      aggregate(["one", "two"], more: ["lbPolicy": "RING_HASH"]),
    ]
    let drop: [String: Any] = ["category": "all", "dropPercentage": ["numerator": 100]]
    mesh.endpoints = [("one", [1]), ("two", ports)].map { name, ports in
      let policy: [String: Any] = ["policy": ["dropOverloads": [drop]]]
      return Mesh.assignment(name, ports: ports).merging(name == dropping ? policy : [:]) { $1 }
    }
    return mesh
  }

  /// Both clients ignore what an aggregate says of policies.
  @Test func theClustersOfAnAggregateHaveTheirOwnPolicies() async throws {
    try await withMesh(servers: 2) { plane, ports async throws in
      try plane.set(meshOfAggregate(ports))
      let other = try GRPCClient([plane])
      var servers: Set<String> = []
      while servers != ["s0", "s1"] {
        try Task.checkCancellation()
        servers.formUnion(try other.answers(10).keys)
      }
      other.stop()
      try await withMeshClient("xds:///greeter", plane.bootstrap) { client async throws in
        var servers: Set<String> = []
        while servers != ["s0", "s1"] { servers.insert(try await client.server()) }
      }
    }
  }

  /// gRPC's own client also drops the calls that would wait while the first cluster connects.
  @Test(arguments: ["one", "two"])
  func theClustersOfAnAggregateHaveTheirOwnDrops(_ dropping: String) async throws {
    try await withMesh(servers: 2) { plane, ports async throws in
      try plane.set(meshOfAggregate(ports, dropping: dropping))
      if dropping == "two" { #expect(try plane.answersOfGRPC(calls: 10) == ["UNAVAILABLE": 10]) }
      try await withMeshClient("xds:///greeter", plane.bootstrap) { client async throws in
        for _ in 0..<10 {
          if dropping == "one" {
            _ = try await client.server()
          } else {
            let failure = await #expect(throws: GRPCStatus.self) { _ = try await client.server() }
            #expect(failure?.message == "the control plane has calls dropped: all")
          }
        }
      }
    }
  }

  /// It is Envoy's policy of aggregates. gRPC's own client refuses it, although it would ignore it.
  @Test func anAggregateMayHaveAPolicyThatNobodyKnows() async throws {
    try await withMesh(servers: 1) { plane, ports async throws in
      var mesh = Mesh("greeter", routes: [Mesh.route(to: "all")], clusters: ["one": ports])
      mesh.clusters.append(aggregate(["one"], more: ["lbPolicy": "CLUSTER_PROVIDED"]))
      try plane.set(mesh)
      #expect(try plane.answersOfGRPC(calls: 1) == ["UNAVAILABLE": 1])
      try await withMeshClient("xds:///greeter", plane.bootstrap) { client async throws in
        #expect(try await client.server() == "s0")
      }
    }
  }

  @Test func aCallKeepsTheRouteThatItBeganWith() async throws {
    try await withMesh(servers: 2) { plane, ports async throws in
      try plane.set(Mesh("greeter", routes: [Mesh.route(to: "one")], clusters: ["one": [ports[0]]]))
      try await withMeshClient("xds:///greeter", plane.bootstrap) { client async throws in
        try await client.outlive {
          try plane.set(
            Mesh("greeter", version: "2", routes: [Mesh.route(to: "two")], clusters: ["two": [ports[1]]])
          )
          while try await client.server() != "s1" { try Task.checkCancellation() }
          // The cluster of the call is still asked for.
          try plane.next("accepted", "clusters") { $0.names == ["one", "two"] }
        }
        // It is not needed any more.
        try plane.next("accepted", "clusters") { $0.names == ["two"] }
      }
    }
  }

  @Test func aTimeoutOfARouteCounts() async throws {
    try await withServers([[Silent()]]) { _, addresses async throws in
      let plane = try PlanePeer()
      let limit: [String: Any] = ["maxStreamDuration": ["maxStreamDuration": "0.05s"]]
      let port = try #require(addresses.first?.port)
      try plane.set(
        Mesh("greeter", routes: [Mesh.route(to: "one", more: limit)], clusters: ["one": [Int(port)]])
      )
      try await withMeshClient("xds:///greeter", plane.bootstrap) { client async throws in
        let failure = await #expect(throws: GRPCStatus.self) { try await client.server() }
        #expect(failure?.code == .deadlineExceeded)
      }
    }
  }

  @Test func aFailedCallIsMadeAgainIfTheRouteSaysSo() async throws {
    let flaky = Flaky()
    try await withServers([[flaky]]) { _, addresses async throws in
      let plane = try PlanePeer()
      let retry: [String: Any] = ["retryPolicy": ["retryOn": "5xx, resource-exhausted", "numRetries": 2]]
      let port = try #require(addresses.first?.port)
      try plane.set(
        Mesh("greeter", routes: [Mesh.route(to: "one", more: retry)], clusters: ["one": [Int(port)]])
      )
      try await withMeshClient("xds:///greeter", plane.bootstrap) { client async throws in
        #expect(try await client.server() == "attempt 3")
      }
    }
  }

  /// Both are what the bootstrap says of the control plane.
  @Test(arguments: [false, true])
  func aListenerThatIsDeletedIsStillUsedUnlessFaultsCount(_ count: Bool) async throws {
    try await withMesh(servers: 1) { plane, ports async throws in
      try plane.set(Mesh("greeter", routes: [Mesh.route(to: "one")], clusters: ["one": [ports[0]]]))
      var bootstrap = plane.bootstrap
      if count { bootstrap.servers[0].features = [.failOnDataErrors] }
      try await withMeshClient("xds:///greeter", bootstrap) { client async throws in
        #expect(try await client.server() == "s0")
        try plane.command(["version": "2", "resources": ["listeners": [] as [Any]]])
        try plane.next("accepted", "listeners") { $0.version == "2" }
        guard count else { return #expect(try await client.server() == "s0") }
        while (try? await client.server()) != nil { try Task.checkCancellation() }
        let failure = await #expect(throws: GRPCStatus.self) { try await client.server() }
        #expect(failure?.message == "there is no listener greeter" && failure?.code == .unavailable)
      }
    }
  }

  @Test func channelsShareAClient() async throws {
    try await withMesh(servers: 1) { plane, ports async throws in
      try plane.set(Mesh("greeter", routes: [Mesh.route(to: "one")], clusters: ["one": [ports[0]]]))
      try await withMeshClient("xds:///greeter", plane.bootstrap) { first async throws in
        #expect(try await first.server() == "s0")
        try await withMeshClient("xds:///greeter", plane.bootstrap) { second async throws in
          #expect(try await second.server() == "s0")
        }
        #expect(try await first.server() == "s0")
        // What the peer says last shows that it was asked by nobody else.
        try plane.command(["cut": true])
        try plane.next("asked", "listeners")
        let second = try plane.next("asked", "listeners")
        #expect(second.version == "1")
      }
    }
  }

  @Test func anIdleChannelAsksAgainWhenItIsNeeded() async throws {
    try await withMesh(servers: 1) { plane, ports async throws in
      try plane.set(Mesh("greeter", routes: [Mesh.route(to: "one")], clusters: ["one": [ports[0]]]))
      var options = ChannelOptions()
      options.security = .plaintext
      options.idleTimeout = .milliseconds(10)
      options.resolvers = [XDSResolver(bootstrap: plane.bootstrap, logger: .quiet)]
      try await withChannel(to: "xds:///greeter", options: options) { channel async throws in
        let client = Echo_EchoClient(channel: channel)
        for _ in 0..<2 {
          #expect(try await client.server() == "s0")
          for await state in channel.connectivity where state == .idle { break }
        }
      }
      // Each time by another stream: the client was gone.
      try plane.next("asked", "listeners")
      #expect(try plane.next("asked", "listeners").version == "")
    }
  }

  @Test func aLateControlPlaneIsWaitedFor() async throws {
    try await withMesh(servers: 1) { plane, ports async throws in
      try plane.command(["delay": 0.2])
      try plane.set(Mesh("greeter", routes: [Mesh.route(to: "one")], clusters: ["one": [ports[0]]]))
      try await withMeshClient("xds:///greeter", plane.bootstrap) { client async throws in
        #expect(try await client.server() == "s0")
      }
    }
  }

  @Test func withoutAControlPlaneCallsFailWithTheReason() async throws {
    let bootstrap = XDSBootstrap(servers: [XDSBootstrap.Server("127.0.0.1:1", security: .plaintext)])
    try await withMeshClient("xds:///greeter", bootstrap) { client async throws in
      let failure = await #expect(throws: GRPCStatus.self) { try await client.server() }
      #expect(failure?.code == .unavailable)
      #expect(
        failure?.message?.contains("the control plane 127.0.0.1:1 cannot be asked") == true,
        "\(String(describing: failure))"
      )
    }
  }
}

/// Answers the third attempt.
private final class Flaky: EchoingProvider {
  private let attempts = Counter()

  func get(request: Echo_EchoRequest, context: ServerCallContext) async throws -> Echo_EchoResponse {
    let attempt = await attempts.next()
    guard attempt == 3 else { throw GRPCStatus(code: .resourceExhausted, message: "attempt \(attempt)") }
    return .with { $0.text = "attempt \(attempt)" }
  }

  private actor Counter {
    private var count = 0

    func next() -> Int {
      count += 1
      return count
    }
  }
}
