import EchoService
import EchoTestSupport
import Foundation
import Switchboard
import TestSupport
import Testing

/// What is made of the load that servers say with their answers, in our client, in gRPC's own (C-core) and in Envoy, at the same control
/// plane and the same servers.
@Suite(.mayBlock, .timeLimit(.minutes(5))) struct ServerLoadComparisonTests {
  private func mesh(
    _ ports: [Int],
    cluster: [String: Any]
  ) -> Mesh {
    var mesh = Mesh("greeter", routes: [Mesh.route(to: "one")], clusters: [:])
    mesh.clusters = [Mesh.cluster("one", more: cluster)]
    mesh.endpoints = [Mesh.assignment("one", [Mesh.place("a", ports: ports)])]
    return mesh
  }

  /// A server that is used a fifth as much gets four times the calls of one that is used four fifths.
  @Test func sharesByLoad() async throws {
    let policy = Mesh.policies(
      ["client_side_weighted_round_robin"],
      ["blackoutPeriod": "0s", "weightUpdatePeriod": "0.1s", "weightExpirationPeriod": "3600s"]
    )
    try await withDataPlanes(
      servers: [Loaded(name: "s0", utilization: 0.2), Loaded(name: "s1", utilization: 0.8)],
      { mesh($0, cluster: policy) },
      { planes async throws in
        try await planes.connect(["s0", "s1"])
        // Until then, the shares are equal.
        while try await planes.answers(100).values.contains(where: { $0["s0", default: 0] < 75 }) {
          try Task.checkCancellation()
        }
        try await planes.expect(["s0": 800, "s1": 200])
      }
    )
  }
}

/// Says how much it is used, and fails if it should.
private struct Loaded: EchoingProvider {
  let name: String
  let utilization: Double

  func get(request: Echo_EchoRequest, context: ServerCallContext) async throws -> Echo_EchoResponse {
    context.loadReport.queriesPerSecond = 100
    context.loadReport.cpuUtilization = utilization
    return .with { $0.text = name }
  }
}
