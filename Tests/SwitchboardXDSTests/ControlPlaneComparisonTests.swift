import Foundation
import Switchboard
import SwitchboardXDS
import TestSupport
import Testing

/// Whom our client, gRPC's own (C-core) and Envoy ask, and by which names.
@Suite(.mayBlock, .timeLimit(.minutes(5))) struct ControlPlaneComparisonTests {
  /// Envoy takes them for plain names: it has one control plane for all.
  @Test func namesOfAnotherOwner() async throws {
    func name(_ type: String, _ name: String) -> String { "xdstp://own/envoy.config.\(type)/\(name)" }
    let (listener, routes) = (
      name("listener.v3.Listener", "greeter"), name("route.v3.RouteConfiguration", "r")
    )
    let (cluster, endpoints) = (
      name("cluster.v3.Cluster", "one"), name("endpoint.v3.ClusterLoadAssignment", "one")
    )
    try await withDataPlanes(
      servers: 1,
      with: .init(owner: "own"),
      { ports in
        var mesh = Mesh("greeter", routes: [], clusters: [:])
        mesh.listeners = [Mesh.listener(listener, routes: routes)]
        mesh.routes = [Mesh.table(routes, [Mesh.host(["greeter"], [Mesh.route(to: cluster)])])]
        let source: [String: Any] = ["ads": [:] as [String: Any], "resourceApiVersion": "V3"]
        mesh.clusters = [
          Mesh.cluster(cluster, more: ["edsClusterConfig": ["edsConfig": source, "serviceName": endpoints]])
        ]
        mesh.endpoints = [Mesh.assignment(endpoints, ports: ports)]
        return mesh
      },
      { planes async throws in
        try await planes.expect(["s0": 1000])
      }
    )
  }

  private func mesh(_ port: Int) -> Mesh {
    Mesh("greeter", routes: [Mesh.route(to: "one")], clusters: ["one": [port]]).withProxy
  }

  /// The first control plane is down. Clients of gRPC return to it when it comes back; Envoy, whose feature is an experiment, only when
  /// the second is lost.
  @Test func fallback() async throws {
    try await withMesh(servers: 2) { second, ports async throws in
      let lost = try PlanePeer()
      lost.kill()
      try second.set(mesh(ports[1]))
      try await withDataPlanes(at: [lost, second], ports) { planes async throws in
        try await planes.expect(["s1": 1000])
        let first = try PlanePeer(port: lost.port)
        try first.set(mesh(ports[0]))
        for plane in [DataPlane.ours, .grpc] {
          while try await planes.answers(of: plane, 10) != ["s0": 10] { try Task.checkCancellation() }
        }
        try await planes.expect(["s0": 1000], ofEnvoy: ["s1": 1000])
        second.kill()
        while try await planes.answers(of: .envoy, 10) != ["s0": 10] { try Task.checkCancellation() }
        try await planes.expect(["s0": 1000])
      }
    }
  }
}
