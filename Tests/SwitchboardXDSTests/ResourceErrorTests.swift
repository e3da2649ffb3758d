import EchoService
import Foundation
import ServerTestSupport
import Switchboard
import SwitchboardXDS
import TestSupport
import Testing

/// Errors that a control plane sends in place of resources (gRFC A88), for our client and gRPC's own.
@Suite(.mayBlock, .timeLimit(.minutes(5))) struct ResourceErrorTests {
  private func mesh(_ ports: [Int], version: String = "1", without kinds: Set<String> = []) -> Mesh {
    var mesh = Mesh("greeter", version: version, routes: [Mesh.route(to: "one")], clusters: ["one": ports])
    if kinds.contains("listeners") { mesh.listeners = [] }
    if kinds.contains("clusters") { mesh.clusters = [] }
    return mesh
  }

  /// Calls do not wait until the time for the resource is up, and say why they fail. The code is not that of calls.
  @Test(arguments: ["listeners", "routes", "clusters", "endpoints"])
  func callsFailAtOnceByAnError(_ kind: String) async throws {
    try await withMesh(servers: 1) { plane, ports async throws in
      var mesh = mesh(ports)
      let name = ["listeners": "greeter", "routes": "routes-of-greeter"][kind] ?? "one"
      var resources = mesh.resources
      resources[kind] = [] as [[String: Any]]
      try plane.command(["version": "1", "resources": resources, "errors": [kind: [[name, 7, "not you"]]]])
      try await withMeshClient("xds:///greeter", plane.bootstrap) { client async throws in
        let failure = await #expect(throws: GRPCStatus.self) { try await client.server() }
        #expect(failure?.code == .unavailable)
        #expect(failure?.message?.contains("PERMISSION_DENIED: not you") == true, "\(failure as Any)")
        #expect(try plane.answersOfGRPC(calls: 1, readsErrors: true) == ["UNAVAILABLE": 1])
        // The resource comes after all.
        mesh.version = "2"
        try plane.command(["version": "2", "resources": mesh.resources, "errors": [:] as [String: Any]])
        while (try? await client.server()) != "s0" { try Task.checkCancellation() }
      }
    }
  }

  /// The cluster that is known is still used, unless the error is one of data and such faults count.
  @Test(arguments: [(5, false), (7, false), (14, false), (5, true), (7, true), (14, true)])
  func whatIsKnownIsStillUsed(_ code: Int, _ countsFaults: Bool) async throws {
    try await withMesh(servers: 1) { plane, ports async throws in
      try plane.set(mesh(ports))
      var bootstrap = plane.bootstrap
      if countsFaults { bootstrap.servers[0].features = [.failOnDataErrors] }
      let others = try GRPCClient(
        [plane],
        features: countsFaults ? ["fail_on_data_errors"] : [],
        readsErrors: true
      )
      defer { others.stop() }
      try await withMeshClient("xds:///greeter", bootstrap) { client async throws in
        #expect(try await client.server() == "s0")
        #expect(try others.answers(1) == ["s0": 1])
        let resources = mesh(ports, without: ["clusters"]).resources
        try plane.command([
          "version": "2", "resources": resources, "errors": ["clusters": [["one", code, "gone"]]],
        ])
        for _ in 0..<2 { _ = try plane.next("accepted", "clusters") { $0.version == "2" } }
        if countsFaults, code != 14 {
          while (try? await client.server()) != nil { try Task.checkCancellation() }
          while try others.answers(1) == ["s0": 1] { try Task.checkCancellation() }
        } else {
          for _ in 0..<20 { #expect(try await client.server() == "s0") }
          #expect(try others.answers(20) == ["s0": 20])
        }
      }
    }
  }

  /// C-core refuses the same.
  @Test func anErrorWithoutANameIsRefused() async throws {
    try await withMesh(servers: 1) { plane, ports async throws in
      try plane.command([
        "version": "1", "resources": mesh(ports).resources,
        "errors": ["clusters": [["", 5, ""], ["one", 0, ""]]],
      ])
      try await withMeshClient("xds:///greeter", plane.bootstrap) { client async throws in
        #expect(try await client.server() == "s0")
      }
      let reason = try plane.next("refused", "clusters").reason
      #expect(
        reason == "resource_errors[0]: resource_name.name: is empty; "
          + "resource_errors[1]: error_detail.code: is missing, or no failure"
      )
      #expect(try plane.answersOfGRPC(calls: 1, readsErrors: true) == ["s0": 1])
      let other = try plane.next("refused", "clusters").reason
      #expect(
        other.contains("resource_name unset") && other.contains("error_detail must be non-OK"),
        "\(other)"
      )
    }
  }
}
