import EchoService
import Foundation
import Switchboard
import TestSupport
import Testing

/// What clusters and their endpoints make of calls, in our client, in gRPC's own (C-core) and in Envoy, at the same control plane and the
/// same servers.
@Suite(.mayBlock, .timeLimit(.minutes(5))) struct ClusterComparisonTests {
  /// A mesh whose calls go to one cluster.
  private func mesh(
    _ places: [[String: Any]],
    cluster: [String: Any] = [:],
    route: [String: Any] = [:],
    more: [String: Any] = [:],
    name: String = "one"
  ) -> Mesh {
    var mesh = Mesh("greeter", routes: [Mesh.route(to: name, more: route)], clusters: [:])
    mesh.clusters = [Mesh.cluster(name, more: cluster)]
    mesh.endpoints = [Mesh.assignment(name, places, more: more)]
    return mesh
  }

  /// Envoy counts a place by its weight if this says so, and servers that are not healthy only if this does not say otherwise. Clients of
  /// gRPC always do the first, and never the second.
  private static var asClientsDo: [String: Any] {
    [
      "commonLbConfig": [
        "localityWeightedLbConfig": [:] as [String: Any], "healthyPanicThreshold": ["value": 0],
      ]
    ]
  }

  /// A place whose servers have these states.
  private func place(_ servers: [(port: Int, health: String)], priority: Int = 0) -> [String: Any] {
    var place = Mesh.place("p\(priority)", ports: servers.map(\.port), priority: priority)
    let endpoints = place["lbEndpoints"] as? [[String: Any]] ?? []
    place["lbEndpoints"] = zip(endpoints, servers).map { $0.merging(["healthStatus": $1.health]) { $1 } }
    return place
  }

  @Test func placesByWeight() async throws {
    try await withDataPlanes(
      servers: 3,
      { ports in
        mesh(
          [
            Mesh.place("a", ports: [ports[0]]), Mesh.place("b", ports: [ports[1]], weight: 3),
            Mesh.place("c", ports: [ports[2]], weight: 6),
          ],
          cluster: Self.asClientsDo
        )
      },
      { planes async throws in
        try await planes.connect(["s0", "s1", "s2"])
        try await planes.expect(["s0": 100, "s1": 300, "s2": 600])
      }
    )
  }

  /// A priority of which half is healthy: it is used for all calls by clients of gRPC; by Envoy for 1.4 times its half.
  @Test func aPriorityThatIsHalfHealthy() async throws {
    try await withDataPlanes(
      servers: 3,
      { ports in
        mesh(
          [
            place([(ports[0], "HEALTHY"), (ports[1], "UNHEALTHY")]),
            place([(ports[2], "HEALTHY")], priority: 1),
          ],
          cluster: Self.asClientsDo
        )
      },
      { planes async throws in
        try await planes.expect(["s0": 1000], ofEnvoy: ["s0": 700, "s2": 300])
      }
    )
  }

  @Test func aPriorityThatIsNotHealthy() async throws {
    try await withDataPlanes(
      servers: 3,
      { ports in
        mesh(
          [
            place([(ports[0], "UNHEALTHY"), (ports[1], "DRAINING")]),
            place([(ports[2], "HEALTHY")], priority: 1),
          ],
          cluster: Self.asClientsDo
        )
      },
      { planes async throws in
        try await planes.expect(["s2": 1000])
      }
    )
  }

  /// Clients of gRPC go on to the next priority when they have no connection; Envoy only by what it is told of the servers' health.
  @Test func aPriorityThatCannotBeReached() async throws {
    try await withDataPlanes(
      servers: 1,
      { mesh([Mesh.place("a", ports: [1]), Mesh.place("a", ports: $0, priority: 1)]) },
      { planes async throws in
        try await planes.expect(["s0": 1000], ofEnvoy: ["UNAVAILABLE": 1000])
      }
    )
  }

  @Test func healthOfServers() async throws {
    let states = ["HEALTHY", "UNKNOWN", "UNHEALTHY", "DRAINING", "TIMEOUT"]
    try await withDataPlanes(
      servers: states.count,
      { mesh([place(Array(zip($0, states)))], cluster: Self.asClientsDo) },
      { planes async throws in
        try await planes.connect(["s0", "s1"])
        try await planes.expect(["s0": 500, "s1": 500])
      }
    )
  }

  /// Clients of gRPC do not use it. Envoy does if less is healthy than the five sevenths that bear all calls: here a half, which gets 70 of
  /// 100 calls, and the other half the rest.
  @Test func aServerThatIsDegraded() async throws {
    try await withDataPlanes(
      servers: 2,
      { mesh([place([($0[0], "HEALTHY"), ($0[1], "DEGRADED")])], cluster: Self.asClientsDo) },
      { planes async throws in
        try await planes.expect(["s0": 1000], ofEnvoy: ["s0": 700, "s1": 300])
      }
    )
  }

  @Test func dropsOfACategory() async throws {
    try await withDataPlanes(
      servers: 1,
      { ports in
        let drop: [String: Any] = ["category": "too hot", "dropPercentage": ["numerator": 25]]
        return mesh([Mesh.place("a", ports: ports)], more: ["policy": ["dropOverloads": [drop]]])
      },
      { planes async throws in
        try await planes.expect(["s0": 750, "UNAVAILABLE": 250])
      }
    )
  }

  /// One category after the other. Envoy has one at most.
  @Test func dropsOfSeveralCategories() async throws {
    try await withDataPlanes(
      servers: 1,
      of: [.ours, .grpc],
      refusals: ["Cluster drop_overloads config has 2 categories. Envoy only support one."],
      { ports in
        let drops: [[String: Any]] = ["too hot", "too late"].map {
          ["category": $0, "dropPercentage": ["numerator": 20]]
        }
        return mesh([Mesh.place("a", ports: ports)], more: ["policy": ["dropOverloads": drops]])
      },
      { planes async throws in
        try await planes.expect(["s0": 640, "UNAVAILABLE": 360])
      }
    )
  }

  /// In turn: each server has its share, but for where each begins.
  @Test(arguments: [false, true])
  func turns(_ isExtension: Bool) async throws {
    try await withDataPlanes(
      servers: 4,
      { mesh([Mesh.place("a", ports: $0)], cluster: isExtension ? Mesh.policies(["round_robin"]) : [:]) },
      { planes async throws in
        try await planes.connect(["s0", "s1", "s2", "s3"])
        for (plane, answers) in try await planes.answers() {
          #expect(
            answers.count == 4 && answers.values.allSatisfy { abs($0 - 250) <= 1 },
            "\(plane.rawValue): \(answers)"
          )
        }
      }
    )
  }

  /// Turns by the weights of servers are a thing of Envoy.
  @Test func turnsOfServersWithWeights() async throws {
    try await withDataPlanes(
      servers: 2,
      { ports in
        var place = Mesh.place("a", ports: ports)
        let endpoints = place["lbEndpoints"] as? [[String: Any]] ?? []
        place["lbEndpoints"] = zip(endpoints, [1, 3]).map { $0.merging(["loadBalancingWeight": $1]) { $1 } }
        return mesh([place])
      },
      { planes async throws in
        try await planes.connect(["s0", "s1"])
        try await planes.expect(["s0": 500, "s1": 500], ofEnvoy: ["s0": 250, "s1": 750])
      }
    )
  }

  /// When no server has more calls than the others, any of them gets the next. C-core does not have this policy.
  @Test(arguments: [false, true])
  func theLeastRequests(_ isExtension: Bool) async throws {
    try await withDataPlanes(
      servers: 4,
      of: [.ours, .envoy],
      {
        mesh(
          [Mesh.place("a", ports: $0)],
          cluster: isExtension
            ? Mesh.policies(["least_request"], ["choiceCount": 3]) : ["lbPolicy": "LEAST_REQUEST"]
        )
      },
      { planes async throws in
        try await planes.connect(["s0", "s1", "s2", "s3"])
        try await planes.expect(["s0": 250, "s1": 250, "s2": 250, "s3": 250])
      }
    )
  }

  /// A server whose calls fail is not used any more.
  @Test func outliers() async throws {
    let detection: [String: Any] = [
      "interval": "1s", "baseEjectionTime": "3600s", "maxEjectionTime": "3600s", "maxEjectionPercent": 50,
      "enforcingConsecutive5xx": 0, "enforcingConsecutiveGatewayFailure": 0, "enforcingSuccessRate": 0,
      "failurePercentageThreshold": 50, "enforcingFailurePercentage": 100,
      "failurePercentageMinimumHosts": 3, "failurePercentageRequestVolume": 1,
    ]
    try await withDataPlanes(
      servers: [NamedEcho(name: "s0"), NamedEcho(name: "s1"), Failing()],
      { mesh([Mesh.place("a", ports: $0)], cluster: ["outlierDetection": detection]) },
      { planes async throws in
        try await planes.connect(["s0", "s1", "UNAVAILABLE"])
        while try await planes.answers(50).values.contains(where: { $0["UNAVAILABLE"] != nil }) {
          try Task.checkCancellation()
        }
        try await planes.expect(["s0": 500, "s1": 500])
      }
    )
  }

  /// The calls of a user stay at a server. Envoy's ring is another one, so that it may be another server there.
  @Test(arguments: [false, true])
  func hashes(_ isExtension: Bool) async throws {
    let hash: [[String: Any]] = [["header": ["headerName": "user"]]]
    try await withDataPlanes(
      servers: 4,
      {
        mesh(
          [Mesh.place("a", ports: $0)],
          cluster: isExtension ? Mesh.policies(["ring_hash"]) : ["lbPolicy": "RING_HASH"],
          route: ["hashPolicy": hash]
        )
      },
      { planes async throws in
        try await expectUsersToStay(planes, (0..<20).map { "\($0)" })
      }
    )
  }

  /// A part of the field that a pattern leaves.
  @Test(arguments: [("^([a-z]+)-[0-9]+$", "\\1"), ("[0-9]+", "<\\0>"), ("(x)|-", "\\1."), ("-[0-9]*$", "")])
  func rewrittenHashes(_ pattern: String, _ substitution: String) async throws {
    let rewrite: [String: Any] = ["pattern": ["regex": pattern], "substitution": substitution]
    let hash: [[String: Any]] = [["header": ["headerName": "user", "regexRewrite": rewrite]]]
    try await withDataPlanes(
      servers: 4,
      { mesh([Mesh.place("a", ports: $0)], cluster: ["lbPolicy": "RING_HASH"], route: ["hashPolicy": hash]) },
      { planes async throws in
        let users = (0..<2).flatMap { number in "abcdefghijklmnop".map { "\($0)-\(number)" } }
        try await expectUsersToStay(planes, users)
      }
    )
  }

  /// Expects the calls of a user to be answered by one server: by the same one in both clients of gRPC.
  private func expectUsersToStay(_ planes: DataPlanes, _ users: [String]) async throws {
    var homes: [DataPlane: Set<String>] = [:]
    for user in users {
      let answers = try await planes.answers(DataPlanes.calls / users.count + 1, [("user", user)])
      for (plane, servers) in answers {
        #expect(servers.count == 1, "\(plane.rawValue): \(user) is at \(servers)")
        homes[plane, default: []].formUnion(servers.keys)
      }
      #expect(answers[.ours] == answers[.grpc], "\(user)")
    }
    for (plane, servers) in homes {
      #expect(servers.count > 1, "\(plane.rawValue): all users are at \(servers)")
    }
  }

  /// While as many calls go on as the cluster allows, all others fail.
  @Test func circuitBreaking() async throws {
    try await withDataPlanes(
      servers: 1,
      {
        // The calls of all channels of a process count, those of other tests too.
        mesh(
          [Mesh.place("a", ports: $0)],
          cluster: ["circuitBreakers": ["thresholds": [["maxRequests": 1]]]],
          name: "compared-limit"
        )
      },
      { planes async throws in
        try planes.others.hold(true)
        try await planes.ours.outlive {
          try await planes.proxied.outlive { try await planes.expect(["UNAVAILABLE": 1000]) }
        }
        try planes.others.hold(false)
        try await planes.expect(["s0": 1000], atOnce: 1)
      }
    )
  }

  private func aggregate(_ clusters: [String]) -> [String: Any] {
    let config: [String: Any] = [
      "@type": "type.googleapis.com/envoy.extensions.clusters.aggregate.v3.ClusterConfig",
      "clusters": clusters,
    ]
    // Envoy knows the first, which it wants; clients of gRPC go on to the second.
    return ["name": "all", "clusterType": ["name": "envoy.clusters.aggregate", "typedConfig": config]]
      .merging(
        Mesh.policies(["cluster_provided", "round_robin"])
      ) { $1 }
  }

  @Test func theNextClusterOfAnAggregate() async throws {
    try await withDataPlanes(
      servers: 3,
      { ports in
        var mesh = Mesh(
          "greeter",
          routes: [Mesh.route(to: "all")],
          clusters: ["two": [ports[1]], "three": [ports[2]]]
        )
        mesh.clusters.append(Mesh.cluster("one", more: Self.asClientsDo))
        mesh.endpoints.append(Mesh.assignment("one", [place([(ports[0], "UNHEALTHY")])]))
        mesh.clusters.append(aggregate(["one", "two", "three"]))
        return mesh
      },
      { planes async throws in
        try await planes.expect(["s1": 1000])
      }
    )
  }

  @Test func aNameInTheDNS() async throws {
    try await withDataPlanes(
      servers: 1,
      { ports in
        var mesh = Mesh("greeter", routes: [Mesh.route(to: "name")], clusters: [:])
        let server: [String: Any] = ["socketAddress": ["address": "localhost", "portValue": ports[0]]]
        mesh.clusters = [
          [
            "name": "name", "type": "LOGICAL_DNS", "dnsLookupFamily": "V4_ONLY",
            "loadAssignment": [
              "clusterName": "name", "endpoints": [["lbEndpoints": [["endpoint": ["address": server]]]]],
            ] as [String: Any],
          ]
        ]
        return mesh
      },
      { planes async throws in
        try await planes.expect(["s0": 1000])
      }
    )
  }
}
