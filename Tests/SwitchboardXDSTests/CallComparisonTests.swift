import EchoService
import EchoTestSupport
import Foundation
import Switchboard
import TestSupport
import Testing

/// What becomes of single calls, in our client, in gRPC's own (C-core) and in Envoy, at the same control plane and the same servers:
/// timeouts, repetitions, faults.
@Suite(.mayBlock, .timeLimit(.minutes(5))) struct CallComparisonTests {
  private func mesh(
    _ ports: [Int],
    route: [String: Any] = [:],
    cluster: [String: Any] = [:],
    name: String = "one"
  ) -> Mesh {
    var mesh = Mesh("greeter", routes: [Mesh.route(to: name, more: route)], clusters: [:])
    mesh.clusters = [Mesh.cluster(name, more: cluster)]
    mesh.endpoints = [Mesh.assignment(name, ports: ports)]
    return mesh
  }

  /// The second is for calls that have a timeout of their own, as all of these have.
  @Test(arguments: [#"{"maxStreamDuration": "0.05s"}"#, #"{"grpcTimeoutHeaderMax": "0.05s"}"#])
  func timeouts(_ limit: String) async throws {
    let limit = try JSONSerialization.jsonObject(with: Data(limit.utf8))
    try await withDataPlanes(
      servers: [Silent()],
      { mesh($0, route: ["maxStreamDuration": limit]) },
      { planes async throws in
        try await planes.expect(["DEADLINE_EXCEEDED": 1000], atOnce: 100)
      }
    )
  }

  /// Half of all attempts fail, and a call has at most three.
  @Test(arguments: [
    ("unavailable", GRPCStatus.Code.unavailable), ("cancelled,internal", .internalError),
    ("deadline-exceeded", .deadlineExceeded), ("resource-exhausted", .resourceExhausted),
    ("cancelled", .cancelled),
  ])
  func repetitions(_ condition: String, _ code: GRPCStatus.Code) async throws {
    // With 0.001s, calls by C-core that are to be repeated never end (grpcio 1.85).
    let policy: [String: Any] = [
      "retryOn": condition, "numRetries": 2,
      "retryBackOff": ["baseInterval": "0.01s", "maxInterval": "0.02s"],
    ]
    // Envoy makes three repetitions at once otherwise.
    let breakers: [String: Any] = ["circuitBreakers": ["thresholds": [["maxRetries": 1000]]]]
    try await withDataPlanes(
      servers: [Shaky(code: code)],
      { mesh($0, route: ["retryPolicy": policy], cluster: breakers) },
      { planes async throws in
        try await planes.expect(["s0": 875, code.specName: 125], atOnce: 50)
      }
    )
  }

  @Test func whatIsNotRepeated() async throws {
    let policy: [String: Any] = ["retryOn": "unavailable,internal", "numRetries": 2]
    try await withDataPlanes(
      servers: [Shaky(code: .resourceExhausted)],
      { mesh($0, route: ["retryPolicy": policy]) },
      { planes async throws in
        try await planes.expect(["s0": 500, "RESOURCE_EXHAUSTED": 500])
      }
    )
  }

  private func faults(
    _ ports: [Int],
    _ fault: [String: Any],
    route: [String: Any] = [:],
    name: String = "one"
  ) -> Mesh {
    var mesh = mesh(ports, route: route, name: name)
    let filter: [String: Any] = ["name": "fault", "typedConfig": FaultInjectionTests.fault(fault)]
    mesh.listeners = [Mesh.listener("greeter", routes: "routes-of-greeter", filters: [filter, Mesh.router])]
    return mesh
  }

  @Test(arguments: [
    (#"{"grpcStatus": 5, "percentage": {"numerator": 30}}"#, "NOT_FOUND", 300),
    (
      #"{"httpStatus": 401, "percentage": {"numerator": 1500, "denominator": "TEN_THOUSAND"}}"#,
      "UNAUTHENTICATED", 150
    ),
    (#"{"headerAbort": {}, "percentage": {"numerator": 100}}"#, "ABORTED", 1000),
  ])
  func aborts(_ abort: String, _ status: String, _ share: Int) async throws {
    let abort = try JSONSerialization.jsonObject(with: Data(abort.utf8))
    try await withDataPlanes(
      servers: 1,
      { faults($0, ["abort": abort]) },
      { planes async throws in
        try await planes.expect(
          [status: share, "s0": 1000 - share],
          [("x-envoy-fault-abort-grpc-request", "10")]
        )
      }
    )
  }

  /// Those that are to be delayed come too late for this test, and are cancelled; the others are answered.
  @Test func delays() async throws {
    let delay: [String: Any] = ["headerDelay": [:] as [String: Any], "percentage": ["numerator": 30]]
    let late = [("x-envoy-fault-delay-request", "3600000")]
    try await withDataPlanes(
      servers: 1,
      { faults($0, ["delay": delay], name: "compared-delays") },
      { planes async throws in
        for (plane, count) in [
          (DataPlane.ours, try await planes.ours.answered(DataPlanes.calls, late)),
          (.grpc, try planes.others.answered(DataPlanes.calls, late)),
          (.envoy, try await planes.proxied.answered(DataPlanes.calls, late)),
        ] {
          // Six standard deviations.
          #expect((613...787).contains(count), "\(plane.rawValue): \(count)")
        }
      }
    )
  }

  @Test func anAbortIsNotRepeated() async throws {
    let abort: [String: Any] = ["grpcStatus": 14, "percentage": ["numerator": 30]]
    let policy: [String: Any] = ["retryPolicy": ["retryOn": "unavailable", "numRetries": 3]]
    try await withDataPlanes(
      servers: 1,
      { faults($0, ["abort": abort], route: policy) },
      {
        planes async throws in
        try await planes.expect(["UNAVAILABLE": 300, "s0": 700])
      }
    )
  }
}

/// Fails half of all attempts, by chance.
private struct Shaky: EchoingProvider {
  let code: GRPCStatus.Code

  func get(request: Echo_EchoRequest, context: ServerCallContext) async throws -> Echo_EchoResponse {
    guard Bool.random() else { throw GRPCStatus(code: code) }
    return .with { $0.text = "s0" }
  }
}

extension Echo_EchoClient {
  /// How many of so many calls are answered, of which none waits for another. A call without the metadata, which is made after each,
  /// and comes back after its answer, says when there will be none.
  fileprivate func answered(_ calls: Int, _ metadata: [(String, String)]) async throws -> Int {
    var options = CallOptions()
    options.initialMetadata = HPACKHeaders(metadata)
    var count = 0
    for _ in 0..<calls {
      let call = makeGetCall(Echo_EchoRequest(), callOptions: options)
      _ = try await server()
      call.cancel()
      if await call.status.isOk { count += 1 }
    }
    return count
  }
}
