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
    cluster: [String: Any],
    endpoints: [String: Any] = [:],
    routes: [[String: Any]] = []
  ) -> Mesh {
    var mesh = Mesh("greeter", routes: routes + [Mesh.route(to: "one")], clusters: [:])
    mesh.clusters = [Mesh.cluster("one", more: cluster)]
    mesh.endpoints = [Mesh.assignment("one", [Mesh.place("a", ports: ports)], more: endpoints)]
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

  // MARK: Reports

  /// The same mesh with reports of its cluster, and of another one that is called to see whether reports have begun.
  private func reportingMesh(_ ports: [Int], _ endpoints: [String: Any] = [:]) -> Mesh {
    let more: [String: Any] = [
      "lrsServer": ["self": [:] as [String: Any]],
      "lrsReportEndpointMetrics": ["cpu_utilization", "named_metrics.a"],
    ]
    let header: [String: Any] = ["name": "trial", "presentMatch": true]
    let trial = Mesh.route(to: "trial", match: ["prefix": "", "headers": [header]])
    var mesh = mesh(ports, cluster: more, endpoints: endpoints, routes: [trial])
    mesh.clusters.append(Mesh.cluster("trial", more: more))
    mesh.endpoints.append(Mesh.assignment("trial", ports: ports))
    return mesh
  }

  /// Reports begin when the control plane has said that it wants them, and Envoy counts no call before.
  private func awaitReports(_ planes: DataPlanes) async throws {
    for plane in planes.all {
      var report: PlanePeer.Event
      repeat {
        try Task.checkCancellation()
        _ = try await planes.answers(of: plane, 1, [("trial", "yes")])
        report = try planes.plane.nextLoad("reported") { $0.node == plane.node }
      } while report.load?.contains { $0.cluster == "trial" && !$0.places.isEmpty } != true
    }
  }

  /// What the control plane counts of 1,000 calls. Only those statuses are failures to Envoy that are HTTP's from 500 on.
  @Test(arguments: [
    (GRPCStatus.Code.ok, true), (.unavailable, false), (.internalError, false), (.aborted, true),
  ])
  func loadReports(_ code: GRPCStatus.Code, _ isSuccessOfEnvoy: Bool) async throws {
    try await withDataPlanes(
      servers: [Loaded(name: "s0", utilization: 0.5, code: code)],
      with: .init(hasReports: true),
      { reportingMesh($0) },
      { planes async throws in
        try await awaitReports(planes)
        try await planes.expect([code == .ok ? "s0" : code.specName: 1000])
        for plane in planes.all {
          let load = try planes.plane.load(of: "one", calls: DataPlanes.calls, by: plane.node)
          let succeeded = plane == .envoy ? isSuccessOfEnvoy : code == .ok
          let place = PlanePeer.Load.Place(
            issued: 1000,
            succeeded: succeeded ? 1000 : 0,
            failed: succeeded ? 0 : 1000,
            current: 0,
            metrics: ["cpu_utilization": [1000, 500], "named_metrics.a": [1000, 2000]]
          )
          #expect(load.places == ["a": place] && load.dropped == 0, "\(plane.rawValue): \(load)")
        }
      }
    )
  }

  @Test func reportsOfDrops() async throws {
    let drop: [String: Any] = ["category": "too hot", "dropPercentage": ["numerator": 100]]
    try await withDataPlanes(
      servers: 1,
      with: .init(hasReports: true),
      { reportingMesh($0, ["policy": ["dropOverloads": [drop]]]) },
      { planes async throws in
        try await awaitReports(planes)
        try await planes.expect(["UNAVAILABLE": 1000])
        for plane in planes.all {
          let load = try planes.plane.load(of: "one", calls: DataPlanes.calls, by: plane.node)
          #expect(
            load.drops == ["too hot": 1000] && load.dropped == 1000 && load.places.isEmpty,
            "\(plane.rawValue): \(load)"
          )
        }
      }
    )
  }
}

extension DataPlane {
  /// How it is known to the control plane.
  fileprivate var node: String {
    switch self {
    case .ours: "test-client"
    case .grpc: "grpcio"
    case .envoy: "envoy"
    }
  }
}

/// Says how much it is used, and fails if it should.
private struct Loaded: EchoingProvider {
  let name: String
  let utilization: Double
  var code = GRPCStatus.Code.ok

  func get(request: Echo_EchoRequest, context: ServerCallContext) async throws -> Echo_EchoResponse {
    context.loadReport.queriesPerSecond = 100
    context.loadReport.cpuUtilization = utilization
    context.loadReport.namedMetrics = ["a": 2, "b": 3]
    guard code == .ok else { throw GRPCStatus(code: code) }
    return .with { $0.text = name }
  }
}
