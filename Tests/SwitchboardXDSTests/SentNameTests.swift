import Foundation
import Switchboard
import SwitchboardXDS
import TestSupport
import Testing

/// Which names servers are asked for by TLS (SNI), and which they must have (gRFC A101), by our client and by gRPC's own (C-core, by
/// grpcio).
@Suite(.mayBlock, .timeLimit(.minutes(5))) struct SentNameTests {
  enum Client: CaseIterable { case ours, ofGRPC }

  /// What all servers have in their certificate.
  private static let right = "client.switchboard.test"

  /// The transport socket of a cluster: what it says of names, and the rules for certificates.
  private func socket(_ names: [String: Any], _ rules: [String] = []) -> [String: Any] {
    let validation: [String: Any] = [
      "caCertificateProviderInstance": ["instanceName": "files"],
      "matchSubjectAltNames": rules.map { ["exact": $0] },
    ]
    let context: [String: Any] = [
      "@type": "type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext",
      "commonTlsContext": ["validationContext": validation],
    ]
    return [
      "name": "envoy.transport_sockets.tls", "typedConfig": context.merging(names) { $1 },
    ]
  }

  private func mesh(_ cluster: [String: Any], _ places: [[String: Any]] = [], version: String = "1") -> Mesh {
    var mesh = Mesh("greeter", version: version, routes: [Mesh.route(to: "one")], clusters: [:])
    mesh.clusters = [cluster]
    mesh.endpoints = places.isEmpty ? [] : [Mesh.assignment("one", places)]
    return mesh
  }

  /// A cluster of servers with these hosts.
  private func mesh(
    _ fronts: [TLSFront],
    _ hosts: [String?],
    _ socket: [String: Any],
    version: String = "1"
  ) -> Mesh {
    var place = Mesh.place("p", ports: [])
    place["lbEndpoints"] = zip(fronts, hosts).map { front, host in
      var endpoint: [String: Any] = [
        "address": ["socketAddress": ["address": "127.0.0.1", "portValue": front.port]]
      ]
      endpoint["hostname"] = host
      return ["endpoint": endpoint]
    }
    return mesh(Mesh.cluster("one", more: ["transportSocket": socket]), [place], version: version)
  }

  /// Runs `body` with a control plane and with as many servers behind TLS, which are called `s0`, `s1` and so on.
  private func withFronts(
    _ count: Int,
    _ body: (PlanePeer, [TLSFront]) async throws -> Void
  ) async throws {
    try await withMesh(servers: count) { plane, ports async throws in
      try await body(plane, try ports.map { try TLSFront(to: $0) })
    }
  }

  /// Runs `body` with what makes calls and tells which servers, or which statuses, answer.
  private func with(
    _ client: Client,
    of plane: PlanePeer,
    _ body: ((_ calls: Int) async throws -> Set<String>) async throws -> Void
  ) async throws {
    switch client {
    case .ours:
      let bootstrap = try XDSBootstrap(json: try plane.securedBootstrap())
      let resolver = XDSResolver(bootstrap: bootstrap, usesClusterSecurity: true, logger: .quiet)
      try await withMeshClient(
        "xds:///greeter",
        bootstrap,
        { $0.resolvers = [resolver] },
        {
          client async throws in
          try await body { Set(try await client.answers($0).keys) }
        }
      )
    case .ofGRPC:
      let client = try GRPCClient(secured: plane)
      try await body { Set(try client.answers($0).keys) }
      client.stop()
    }
  }

  @Test(arguments: Client.allCases, [nil, "usual.example"])
  func eachServerIsAskedForItsHost(_ client: Client, _ usual: String?) async throws {
    try await withFronts(3) { plane, fronts async throws in
      let names: [String: Any] = ["autoHostSni": true, "sni": usual ?? ""]
      try plane.set(mesh(fronts, ["a.example", "b.example:8443", nil], socket(names)))
      try await with(client, of: plane) { answers async throws in
        while try await answers(6) != ["s0", "s1", "s2"] { try Task.checkCancellation() }
      }
      #expect(try fronts.map { try $0.asked() } == [["a.example"], ["b.example"], [usual]])
    }
  }

  /// TLS sends no addresses.
  @Test func aHostThatIsAnAddressCountsAsNone() async throws {
    try await withFronts(1) { plane, fronts async throws in
      let names: [String: Any] = ["autoHostSni": true, "sni": "usual.example"]
      try plane.set(mesh(fronts, ["10.0.0.1:443"], socket(names)))
      try await with(.ours, of: plane) { answers async throws in
        #expect(try await answers(1) == ["s0"])
      }
      #expect(try fronts[0].asked() == ["usual.example"])
    }
  }

  @Test(arguments: Client.allCases) func theNameOfLogicalDNSIsSent(_ client: Client) async throws {
    try await withFronts(1) { plane, fronts async throws in
      let place = Mesh.place("a", ports: [fronts[0].port], host: "localhost")
      let cluster: [String: Any] = [
        "name": "one", "type": "LOGICAL_DNS", "loadAssignment": Mesh.assignment("one", [place]),
        "transportSocket": socket(["autoHostSni": true]),
      ]
      try plane.set(mesh(cluster))
      try await with(client, of: plane) { answers async throws in
        #expect(try await answers(1) == ["s0"])
      }
      #expect(try fronts[0].asked() == ["localhost"])
    }
  }

  /// A server with a host, in a cluster with a usual name, and rules.
  typealias Row = (host: String?, usual: String, rules: [String], isAccepted: Bool)

  private func expect(_ row: Row, _ client: Client) async throws {
    try await withFronts(1) { plane, fronts async throws in
      let names: [String: Any] = ["autoHostSni": true, "autoSniSanValidation": true, "sni": row.usual]
      try plane.set(mesh(fronts, [row.host], socket(names, row.rules)))
      try await with(client, of: plane) { answers async throws in
        #expect(try await answers(1) == [row.isAccepted ? "s0" : "UNAVAILABLE"])
      }
    }
  }

  @Test(
    arguments: Client.allCases,
    [
      (right, "", [], true), (right, "", ["other.example"], true), ("other.example", right, [right], false),
      (nil, right, [], true), (nil, "other.example", [right], false),
    ] as [Row]
  )
  func theNameThatWasSentMustBeInTheCertificate(_ client: Client, _ row: Row) async throws {
    try await expect(row, client)
  }

  /// C-core accepts no certificate then.
  @Test(arguments: [(nil, "", [right], true), (nil, "", ["other.example"], false)] as [Row])
  func rulesCountIfNoNameWasSent(_ row: Row) async throws { try await expect(row, .ours) }

  /// A connection is replaced if the host that its server was asked for is another one now, and no other is.
  @Test(arguments: [true, false]) func anotherHostNeedsAnotherConnection(_ sendsHosts: Bool) async throws {
    try await withFronts(3) { plane, fronts async throws in
      let socket = socket(["autoHostSni": sendsHosts])
      try plane.set(mesh(fronts, ["a.example", "b.example"], socket))
      try await with(.ours, of: plane) { answers async throws in
        while try await answers(4) != ["s0", "s1"] { try Task.checkCancellation() }
        for front in fronts { _ = try front.asked() }
        try plane.set(mesh(fronts, ["other.example", "b.example", nil], socket, version: "2"))
        while try await answers(6) != ["s0", "s1", "s2"] { try Task.checkCancellation() }
        #expect(try fronts.map { try $0.asked() } == [sendsHosts ? ["other.example"] : [], [], [nil]])
      }
    }
  }
}
