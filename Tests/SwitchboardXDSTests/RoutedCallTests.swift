import EchoService
import Switchboard
import SwitchboardXDS
import TestSupport
import Testing

/// Real calls, through a real control plane, to real servers.
@Suite(.mayBlock, .timeLimit(.minutes(5))) struct RoutedCallTests {
  @Test func aCallGoesWhereTheControlPlaneSays() async throws {
    try await withMesh(servers: 1) { plane, ports async throws in
      try plane.set(Mesh("greeter", routes: [Mesh.route(to: "one")], clusters: ["one": [ports[0]]]))
      try await withMeshClient("xds:///greeter", plane.bootstrap) { client async throws in
        #expect(try await client.server() == "s0")
      }
      let asked = try plane.next("asked", "listeners")
      #expect(asked.names == ["greeter"] && asked.node == "test-client" && asked.version == "")
      #expect(try plane.next("accepted", "endpoints").version == "1")
    }
  }

  @Test func pathsAndHeadersDecide() async throws {
    try await withMesh(servers: 4) { plane, ports async throws in
      let header: [String: Any] = ["name": "user", "stringMatch": ["prefix": "ada", "ignoreCase": true]]
      let routes = [
        Mesh.route(to: "three", match: ["path": "/echo.Echo/Expand"]),
        Mesh.route(to: "one", match: ["prefix": "/echo.Echo/", "headers": [header]]),
        Mesh.route(to: "two", match: ["prefix": "/echo."]),
      ]
      let clusters = ["one": [ports[1]], "two": [ports[2]], "three": [ports[3]]]
      try plane.set(Mesh("greeter", routes: routes, clusters: clusters))
      try await withMeshClient("xds:///greeter", plane.bootstrap) { client async throws in
        #expect(try await client.server([("user", "ADA-7")]) == "s1")
        #expect(try await client.server([("user", "bob")]) == "s2")
        #expect(try await client.server() == "s2")
        var words: [String] = []
        for try await word in client.expand(.with { $0.text = "a b" }) { words.append(word.text) }
        #expect(words == ["a", "b"])
      }
    }
  }

  @Test func aCallWithoutARouteFails() async throws {
    try await withMesh(servers: 1) { plane, ports async throws in
      let routes = [Mesh.route(to: "one", match: ["path": "/echo.Echo/Expand"])]
      try plane.set(Mesh("greeter", routes: routes, clusters: ["one": [ports[0]]]))
      try await withMeshClient("xds:///greeter", plane.bootstrap) { client async throws in
        let failure = await #expect(throws: GRPCStatus.self) { try await client.server() }
        #expect(failure?.code == .unavailable)
        #expect(failure?.message == "no route is for /echo.Echo/Get")
      }
    }
  }

  /// The shares are within five standard deviations of the law's.
  @Test func aSplitDividesCallsByWeight() async throws {
    try await withMesh(servers: 2) { plane, ports async throws in
      let routes = [Mesh.split([("one", 1), ("two", 3)])]
      try plane.set(Mesh("greeter", routes: routes, clusters: ["one": [ports[0]], "two": [ports[1]]]))
      try await withMeshClient("xds:///greeter", plane.bootstrap) { client async throws in
        var first = 0
        for _ in 0..<1200 where try await client.server() == "s0" { first += 1 }
        #expect(abs(first - 300) < 75, "\(first) of 1200")
      }
    }
  }

  @Test func anUpdateMovesTrafficAndLosesNoCall() async throws {
    try await withMesh(servers: 2) { plane, ports async throws in
      let clusters = ["one": [ports[0]], "two": [ports[1]]]
      try plane.set(Mesh("greeter", routes: [Mesh.route(to: "one")], clusters: clusters))
      try await withMeshClient("xds:///greeter", plane.bootstrap) { client async throws in
        #expect(try await client.server() == "s0")
        try await withThrowingTaskGroup { callers in
          for _ in 0..<8 {
            callers.addTask {
              // Each sees the old server, then only the new one.
              while try await client.server() == "s0" { try Task.checkCancellation() }
              for _ in 0..<50 where try await client.server() != "s1" { Issue.record("a call went back") }
            }
          }
          var moved = Mesh(
            "greeter",
            version: "2",
            routes: [Mesh.route(to: "two")],
            clusters: ["two": [ports[1]]]
          )
          moved.version = "2"
          try plane.set(moved)
          try await callers.waitForAll()
        }
      }
      #expect(try plane.next("accepted", "routes") { $0.version == "2" }.reason == "")
    }
  }

  @Test func whatIsInvalidIsRefusedAndTheLastGoodConfigStays() async throws {
    try await withMesh(servers: 2) { plane, ports async throws in
      let clusters = ["one": [ports[0]], "two": [ports[1]]]
      try plane.set(Mesh("greeter", routes: [Mesh.route(to: "one")], clusters: clusters))
      try await withMeshClient("xds:///greeter", plane.bootstrap) { client async throws in
        #expect(try await client.server() == "s0")
        let regex: [String: Any] = ["safeRegex": ["regex": "/echo("]]
        var broken = Mesh(
          "greeter",
          version: "2",
          routes: [Mesh.route(to: "two", match: regex)],
          clusters: clusters
        )
        // The valid endpoints of the same version count.
        broken.endpoints = [
          Mesh.assignment("one", ports: [ports[1]]),
          ["clusterName": "two", "endpoints": [["priority": 7, "loadBalancingWeight": 1]]],
        ]
        try plane.set(broken)
        let refused = try plane.next("refused", "routes")
        #expect(refused.version == "1")
        #expect(
          refused.reason
            == "routes-of-greeter: virtual_hosts[0].routes[0].match.safe_regex.regex: "
            + "is no pattern of RE2: missing ): /echo("
        )
        while try await client.server() != "s1" { try Task.checkCancellation() }
        // A refusal is not forever.
        try plane.set(
          Mesh("greeter", version: "3", routes: [Mesh.route(to: "two")], clusters: ["two": [ports[0]]])
        )
        while try await client.server() != "s0" { try Task.checkCancellation() }
      }
    }
  }

  @Test func callsGoOnWithoutTheControlPlaneAndFollowTheNextOne() async throws {
    try await withMesh(servers: 2) { plane, ports async throws in
      try plane.set(Mesh("greeter", routes: [Mesh.route(to: "one")], clusters: ["one": [ports[0]]]))
      try await withMeshClient("xds:///greeter", plane.bootstrap) { client async throws in
        #expect(try await client.server() == "s0")
        plane.kill()
        for _ in 0..<50 { #expect(try await client.server() == "s0") }
        let next = try PlanePeer(port: plane.port)
        try next.set(
          Mesh("greeter", version: "9", routes: [Mesh.route(to: "two")], clusters: ["two": [ports[1]]])
        )
        while try await client.server() != "s1" { try Task.checkCancellation() }
        // The first request of a stream has the version in use, and no nonce.
        #expect(try next.next("asked", "listeners").version == "1")
      }
    }
  }
}
