import CHeap
import EchoService
import Foundation
import ServerTestSupport
import Switchboard
import SwitchboardXDS
import TestSupport
import Testing

/// What calls and memory make of a control plane that fails, says what is wrong, or changes its mind all the time.
@Suite(.mayBlock, .timeLimit(.minutes(30))) struct MeshFaultTests {
  @Test func aControlPlaneThatComesAndGoesLosesNoCall() async throws {
    try await withMesh(servers: 2) { first, ports async throws in
      var plane = first
      func mesh(_ round: Int) -> Mesh {
        let cluster = "of-round-\(round)"
        return Mesh(
          "greeter",
          version: "\(round)",
          routes: [Mesh.route(to: cluster)],
          clusters: [cluster: [ports[round % 2]]]
        )
      }
      try plane.set(mesh(0))
      try await withMeshClient("xds:///greeter", plane.bootstrap) { client async throws in
        #expect(try await client.server() == "s0")
        let caller = Caller(client)
        await withTaskGroup { callers in
          for _ in 0..<64 { callers.addTask { await caller.run() } }
          do {
            for round in 1...16 {
              if round % 5 == 0 {
                // The whole of it goes, and another takes its place.
                plane.kill()
                plane = try PlanePeer(port: plane.port)
              } else {
                // Only its streams end: before the change, after it, or while it is sent.
                if round % 3 == 0 { try plane.command(["cut": true]) }
              }
              try plane.set(mesh(round))
              if round % 3 == 1 { try plane.command(["cut": true]) }
              while try await client.server() != "s\(round % 2)" { try Task.checkCancellation() }
            }
          } catch { Issue.record(error) }
          caller.stop()
        }
        #expect(caller.made > 640)
        #expect(caller.lost == nil)
      }
    }
  }

  /// The first dies in the middle of an update, each time, and comes back with the rest; the second is used in between.
  @Test func controlPlanesThatTakeTurnsLoseNoCall() async throws {
    try await withMesh(servers: 2) { start, ports async throws in
      var first = start
      let second = try PlanePeer()
      func mesh(_ cluster: String, _ port: Int, _ round: Int) -> Mesh {
        Mesh("greeter", version: "\(round)", routes: [Mesh.route(to: cluster)], clusters: [cluster: [port]])
      }
      try first.set(mesh("first-0", ports[0], 0))
      var bootstrap = first.bootstrap
      bootstrap.servers += second.bootstrap.servers
      try await withMeshClient("xds:///greeter", bootstrap) { client async throws in
        #expect(try await client.server() == "s0")
        let caller = Caller(client)
        await withTaskGroup { callers in
          for _ in 0..<32 { callers.addTask { await caller.run() } }
          do {
            for round in 1...4 {
              try second.set(mesh("second-\(round)", ports[1], round))
              var half = mesh("first-\(round)", ports[0], round)
              (half.clusters, half.endpoints) = ([], [])
              try first.set(half)
              try first.next("accepted", "clusters") { $0.names.contains("first-\(round)") }
              first.kill()
              while try await client.server() != "s1" { try Task.checkCancellation() }
              first = try PlanePeer(port: first.port)
              try first.set(mesh("first-\(round)", ports[0], round))
              while try await client.server() != "s0" { try Task.checkCancellation() }
            }
          } catch { Issue.record(error) }
          caller.stop()
        }
        #expect(caller.made > 320)
        #expect(caller.lost == nil)
      }
    }
  }

  @Test(arguments: ["listeners", "routes", "clusters", "endpoints"])
  func eachKindOfInvalidResourceIsRefusedByNameAndTheLastGoodOneStays(_ kind: String) async throws {
    try await withMesh(servers: 1) { plane, ports async throws in
      let good = Mesh("greeter", routes: [Mesh.route(to: "one")], clusters: ["one": [ports[0]]])
      let broken: [String: (resource: [String: Any], reason: String)] = [
        "listeners": (
          Mesh.listener("greeter", routes: "routes-of-greeter", filters: []),
          "greeter: api_listener.http_filters: have no router at their end"
        ),
        "routes": (
          Mesh.table("routes-of-greeter", [Mesh.host(["greeter"], [Mesh.route(to: "")])]),
          "routes-of-greeter: virtual_hosts[0].routes[0].route.cluster: is empty"
        ),
        "clusters": (["name": "one", "type": "STATIC"], "one: type: static is not supported"),
        "endpoints": (
          Mesh.assignment("one", [Mesh.place("a", ports: [ports[0], ports[0]])]),
          "one: endpoints[0].lb_endpoints[1]: has the address of another endpoint: 127.0.0.1:\(ports[0])"
        ),
      ]
      let (resource, reason) = try #require(broken[kind])
      try plane.set(good)
      try await withMeshClient("xds:///greeter", plane.bootstrap) { client async throws in
        #expect(try await client.server() == "s0")
        try plane.command(["version": "2", "resources": [kind: [resource]]])
        let refused = try plane.next("refused", kind)
        #expect(refused.reason == reason)
        #expect(refused.version == "1")
        for _ in 0..<20 { #expect(try await client.server() == "s0") }
        // A refusal is not forever.
        try plane.command(["version": "3", "resources": [kind: try #require(good.resources[kind])]])
        try plane.next("accepted", kind) { $0.version == "3" }
        #expect(try await client.server() == "s0")
      }
    }
  }

  /// `MESH_UPDATES` says how many there are. The heap is that of a process of its own, as the allocator has it.
  @Test(.enabled(if: heap_is_counted(), "no other allocator can be asked"))
  func updatesDoNotGrowTheHeap() throws {
    let count = ProcessInfo.processInfo.environment["MESH_UPDATES"].flatMap(Int.init) ?? 1000
    let plane = try PlanePeer()
    // Clusters come and go, and so do their servers, none of which there is.
    func mesh(_ number: Int) -> Mesh {
      let names = (0..<4).map { "c\((number + $0) % 8)" }
      return Mesh(
        "greeter",
        version: "\(number)",
        routes: [Mesh.split(names.map { ($0, 1 + number % 10) })],
        clusters: Dictionary(uniqueKeysWithValues: names.map { ($0, [1 + number % 3, 4 + number % 2]) })
      )
    }
    func update(_ numbers: Range<Int>) throws {
      for number in numbers {
        try plane.set(mesh(number))
        // What it asks for last of a config.
        try plane.next("accepted", "endpoints") { event in
          event.version == "\(number)" && event.names == (0..<4).map { "c\((number + $0) % 8)" }.sorted()
        }
      }
    }
    try plane.set(mesh(0))
    let subject = try ChildProcess(
      "/usr/bin/env",
      // Thread caches count as used memory.
      [
        "GLIBC_TUNABLES=glibc.malloc.tcache_count=0", Command.path(ofProduct: "FaultSubject"), "heap", "mesh",
        "\(plane.port)",
      ]
    )
    func held() throws -> Int {
      subject.write("held\n")
      return try #require(subject.line().flatMap { Int($0) })
    }
    try update(1..<241)
    let before = try held()
    // A multiple of the period of all that changes.
    try update(241..<241 + max(1, count / 240) * 240)
    let after = try held()
    #expect(after - before < 64 << 10, "\(after - before) bytes more after \(count) updates")
    #expect(before > 0)
  }
}
