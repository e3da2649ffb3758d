import Foundation
import InteropService
import ServerTestSupport
import Switchboard
import SwitchboardServices
import TestSupport
import Testing

/// What grpc-go's end-to-end tests do with its own test client and server, with ours in their place.
@Suite(.mayBlock, .timeLimit(.minutes(5))) struct EndToEndTests {
  /// The resources that these tests give the control plane.
  private func mesh(_ name: String, _ ports: [Int], hash: String? = nil) -> Mesh {
    let cluster = "cluster-\(name)"
    let match = ["prefix": "/"]
    var mesh = Mesh(name, routes: [], clusters: [:])
    if let hash {
      let policy: [String: Any] = ["hashPolicy": [["header": ["headerName": hash]]]]
      mesh.routes = [
        Mesh.table(
          "routes-of-\(name)",
          [Mesh.host([name], [Mesh.route(to: cluster, match: match, more: policy)])]
        )
      ]
    } else {
      mesh.routes = [Mesh.table("routes-of-\(name)", [Mesh.host([name], [Mesh.split([(cluster, 100)])])])]
    }
    mesh.clusters = [Mesh.cluster(cluster, more: hash == nil ? [:] : ["lbPolicy": "RING_HASH"])]
    mesh.endpoints = [Mesh.assignment(cluster, [Mesh.place("a", ports: ports, host: "localhost")])]
    return mesh
  }

  @Test func pingPong() async throws {
    let plane = try PlanePeer()
    let binaries = try InteropBinaries("pingpong", plane, servers: 1)
    try plane.set(mesh("pingpong", binaries.servers.map(\.port)))
    try await binaries.withStatistics { channel async throws in
      let calls = try await channel.nextCalls()
      #expect(calls.numFailures == 0 && calls.rpcsByPeer == ["pingpong-0": 100])
      #expect(calls.rpcsByMethod["UnaryCall"]?.rpcsByPeer == ["pingpong-0": 100])
      let client = Grpc_Testing_LoadBalancerStatsServiceClient(channel: channel)
      let totals = try await client.getClientAccumulatedStats(.init()).statsPerMethod
      #expect(totals.keys.sorted() == ["UNARY_CALL"] && totals["UNARY_CALL"]?.result[0] ?? 0 >= 100)
    }
    let tree = try Command.product("switchboard", ["xds", binaries.statistics])
    #expect(
      String(decoding: tree.output, as: UTF8.self) == """
        client xds:///pingpong  node test-client
        └── listener pingpong  accepted, version 1
            └── routes routes-of-pingpong  accepted, version 1
                ├── host of pingpong
                │   └── all calls → cluster-pingpong
                └── cluster cluster-pingpong  accepted, version 1
                    └── endpoints cluster-pingpong  accepted, version 1
                        └── servers in a  priority 0, weight 1
                            └── localhost:\(binaries.servers[0].port)

        """,
      "\(tree.errors)"
    )
    // What the client prints is not read above, which must not hold up its calls.
    #expect(binaries.client.line() == "Greeting: Hello world, this is pingpong-0")
    // As operators stop it.
    binaries.client.send(SIGTERM)
    #expect(binaries.client.exitCode() == 0)
  }

  @Test func aClientThatMustNotFailEndsWithTheFirstFailure() async throws {
    let plane = try PlanePeer()
    let binaries = try InteropBinaries("strict", plane, servers: 1, ["--fail_on_failed_rpc=true"])
    try plane.set(mesh("strict", binaries.servers.map(\.port)))
    try await binaries.withStatistics { channel async throws in
      #expect(try await channel.nextCalls().numFailures == 0)
    }
    binaries.servers[0].process.end(with: SIGKILL)
    #expect(binaries.client.exitCode() == 1)
  }

  /// Calls with the same metadata go to one server, and only that one is connected.
  @Test func affinity() async throws {
    let plane = try PlanePeer()
    let flags = ["--rpc=EmptyCall", "--metadata=EmptyCall:xds_md:unary_yranu"]
    let binaries = try InteropBinaries("affinity", plane, servers: 3, flags)
    try plane.set(mesh("affinity", binaries.servers.map(\.port), hash: "xds_md"))
    try await binaries.withStatistics { channel async throws in
      let calls = try await channel.nextCalls()
      #expect(calls.numFailures == 0 && calls.rpcsByPeer.values.map { $0 } == [100])
      #expect(try await channel.subchannelStates(of: "xds:///affinity") == [.ready: 1, .idle: 2])
      let configuration = Grpc_Testing_XdsUpdateClientConfigureServiceClient(channel: channel)
      var number = 0
      while true {
        try Task.checkCancellation()
        _ = try await configuration.configure(
          .with {
            $0.types = [.emptyCall, .unaryCall]
            $0.metadata = [
              .with { ($0.type, $0.key, $0.value) = (.emptyCall, "xds_md", "unary_yranu") },
              .with { ($0.type, $0.key, $0.value) = (.unaryCall, "xds_md", "\(number)") },
            ]
          }
        )
        let calls = try await channel.nextCalls()
        #expect(calls.numFailures == 0)
        if calls.rpcsByPeer.count == 2 { break }
        number += 1
      }
      #expect(try await channel.subchannelStates(of: "xds:///affinity") == [.ready: 2, .idle: 1])
    }
  }
}
