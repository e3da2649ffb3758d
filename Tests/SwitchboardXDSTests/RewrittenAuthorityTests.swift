import CertificateSupport
import EchoService
import Foundation
import ServerTestSupport
import Switchboard
import SwitchboardXDS
import TestSupport
import Testing

/// Calls that have the host of their server as authority (gRFC A81).
@Suite(.mayBlock, .timeLimit(.minutes(5))) struct RewrittenAuthorityTests {
  /// Servers run until their test ends.
  private final class Servers {
    var all: [AuthorityServer] = []
  }

  private let servers = Servers()

  private func start(
    _ kind: AuthorityServer.Kind = .usual,
    _ credentials: TLSCredentials? = nil
  ) throws -> AuthorityServer {
    let server = try AuthorityServer(kind, credentials)
    servers.all.append(server)
    return server
  }

  /// A server, and its host.
  private typealias Named = (server: AuthorityServer, host: String?)

  private func place(_ zone: String, _ servers: [Named], priority: Int = 0) -> [String: Any] {
    var place = Mesh.place(zone, ports: [], priority: priority)
    place["lbEndpoints"] = servers.map { server, host in
      var endpoint: [String: Any] = [
        "address": ["socketAddress": ["address": "127.0.0.1", "portValue": server.port]]
      ]
      endpoint["hostname"] = host
      return ["endpoint": endpoint]
    }
    return place
  }

  private static var rewrite: [String: Any] { ["autoHostRewrite": true] }

  private func mesh(
    _ places: [[String: Any]],
    route: [String: Any] = rewrite,
    cluster: [String: Any] = [:],
    version: String = "1"
  ) -> Mesh {
    var mesh = Mesh(
      "greeter",
      version: version,
      routes: [Mesh.route(to: "one", more: route)],
      clusters: [:]
    )
    mesh.clusters = [Mesh.cluster("one", more: cluster)]
    mesh.endpoints = [Mesh.assignment("one", places)]
    return mesh
  }

  private func bootstrap(_ plane: PlanePeer, isTrusted: Bool = true) -> XDSBootstrap {
    var bootstrap = plane.bootstrap
    if isTrusted { bootstrap.servers[0].features = [.trusted] }
    return bootstrap
  }

  /// The authorities that the servers see, of both clients.
  private func expect(
    _ expected: Set<String>,
    _ plane: PlanePeer,
    isTrusted: Bool = true,
    _ change: (inout ChannelOptions) -> Void = { _ in }
  ) async throws {
    try await withMeshClient("xds:///greeter", bootstrap(plane, isTrusted: isTrusted), change) {
      client async throws in
      var answers: Set<String> = []
      for _ in 0..<100 { answers.insert(try await client.server()) }
      while !answers.isSuperset(of: expected) { answers.insert(try await client.server()) }
      #expect(answers == expected)
    }
    let features = isTrusted ? ["trusted_xds_server"] : []
    #expect(Set(try plane.answersOfGRPC(calls: 400, features: features).keys) == expected)
  }

  /// Envoy trusts all that it is told.
  @Test func allDataPlanesRewriteTheAuthority() async throws {
    let servers: [Named] = [(try start(), "a.example"), (try start(), "b.example:443")]
    try await withDataPlanes(
      servers: 0,
      with: .init(isTrusted: true),
      { _ in mesh([place("a", servers)]) },
      {
        planes async throws in
        try await planes.connect(["a.example", "b.example:443"])
        try await planes.expect(["a.example": 500, "b.example:443": 500])
      }
    )
  }

  @Test(arguments: ["ROUND_ROBIN", "RING_HASH"])
  func callsHaveTheHostOfTheirServer(_ policy: String) async throws {
    let plane = try PlanePeer()
    let servers: [Named] = [
      (try start(), "a.example"), (try start(), "b.example:443"),
      (try start(), nil),
    ]
    var route = Self.rewrite
    // A ring of calls without a hash would be one of random ones.
    route["hashPolicy"] = []
    let cluster = ["lbPolicy": policy]
    try plane.set(mesh([place("p", servers)], route: route, cluster: cluster))
    try await expect(["a.example", "b.example:443", "greeter"], plane)
    // Who is not trusted is not obeyed.
    try await expect(["greeter"], plane, isTrusted: false)
    try plane.set(mesh([place("p", servers)], route: [:], cluster: cluster, version: "2"))
    try await expect(["greeter"], plane)
    try plane.set(
      mesh([place("p", servers)], route: ["autoHostRewrite": false], cluster: cluster, version: "3")
    )
    try await expect(["greeter"], plane)
  }

  /// Routes may come with their listener.
  @Test func routesOfAListenerCountToo() async throws {
    let plane = try PlanePeer()
    var mesh = mesh([place("p", [(try start(), "a.example")])])
    let manager: [String: Any] = [
      "@type":
        "type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager",
      "routeConfig": mesh.routes[0], "httpFilters": [Mesh.router],
    ]
    mesh.listeners = [["name": "greeter", "apiListener": ["apiListener": manager]]]
    mesh.routes = []
    try plane.set(mesh)
    try await expect(["a.example"], plane)
    try await expect(["greeter"], plane, isTrusted: false)
  }

  @Test func aNameOfTheDNSIsAHostWithItsPort() async throws {
    let plane = try PlanePeer()
    let server = try start()
    let socket: [String: Any] = ["address": "localhost", "portValue": server.port]
    let places: [[String: Any]] = [
      ["lbEndpoints": [["endpoint": ["address": ["socketAddress": socket]]]]]
    ]
    var mesh = mesh([])
    mesh.clusters = [
      [
        "name": "one", "type": "LOGICAL_DNS",
        "loadAssignment": ["clusterName": "one", "endpoints": places] as [String: Any],
      ]
    ]
    mesh.endpoints = []
    try plane.set(mesh)
    try await expect(["localhost:\(server.port)"], plane)
  }

  /// A policy whose servers are one: the host is that of the address that works.
  @Test func aHostBelongsToAnAddress() async throws {
    let plane = try PlanePeer()
    let config = [
      "@type": "type.googleapis.com/envoy.extensions.load_balancing_policies.pick_first.v3.PickFirst"
    ]
    let policy: [String: Any] = ["typedExtensionConfig": ["name": "p", "typedConfig": config]]
    let nobody = try LoopbackSocket.listening()
    close(nobody.descriptor)
    let servers: [Named] = [(try start(), "works.example")]
    var place = place("p", servers)
    let dead: [String: Any] = [
      "hostname": "dead.example",
      "address": ["socketAddress": ["address": "127.0.0.1", "portValue": nobody.port]],
    ]
    let living = try #require(place["lbEndpoints"] as? [[String: Any]])
    place["lbEndpoints"] = [["endpoint": dead]] + living
    try plane.set(mesh([place], cluster: ["loadBalancingPolicy": ["policies": [policy]]]))
    try await expect(["works.example"], plane)
  }

  /// It takes effect without another connection.
  @Test func aServerMayGetAnotherHost() async throws {
    let plane = try PlanePeer()
    let server = try start()
    try plane.set(mesh([place("p", [(server, "first.example")])]))
    try await withMeshClient("xds:///greeter", bootstrap(plane)) { client async throws in
      #expect(try await client.server() == "first.example")
      for (version, host) in ["second.example", nil, "third.example"].enumerated() {
        try plane.set(mesh([place("p", [(server, host)])], version: "\(version + 2)"))
        while try await client.server() != host ?? "greeter" { try Task.checkCancellation() }
      }
    }
  }

  /// What the program says of a call counts most, and what it says of the channel least.
  @Test func theProgramsAuthorityOfACallTakesPrecedence() async throws {
    let plane = try PlanePeer()
    try plane.set(mesh([place("p", [(try start(), "a.example")])]))
    func authorize(_ options: inout ChannelOptions) { options.authority = "channel.example" }
    try await withMeshClient("xds:///greeter", bootstrap(plane), authorize) { client async throws in
      #expect(try await client.server() == "a.example")
      var options = CallOptions()
      options.serverAuthority = "call.example"
      #expect(try await client.get(Echo_EchoRequest(), callOptions: options).text == "call.example")
    }
  }

  /// The header `host` of HTTP/1.1.
  @Test func callsOfOtherProtocolsHaveItToo() async throws {
    let plane = try PlanePeer()
    try plane.set(mesh([place("p", [(try start(.connect), "a.example:80")])]))
    func speakConnect(_ options: inout ChannelOptions) {
      (options.wireProtocol, options.httpVersion) = (.connect, .http1)
    }
    try await withMeshClient("xds:///greeter", bootstrap(plane), speakConnect) { client async throws in
      #expect(try await client.server() == "a.example:80")
    }
  }

  /// Each attempt has the host of its server.
  @Test func aRepetitionHasTheHostOfItsOwnServer() async throws {
    let plane = try PlanePeer()
    var route = Self.rewrite
    route["retryPolicy"] = ["retryOn": "unavailable", "numRetries": 3]
    let (failing, working) = (try start(.failing), try start())
    try plane.set(
      mesh([place("p", [(failing, "failing.example"), (working, "working.example")])], route: route)
    )
    try await withMeshClient("xds:///greeter", bootstrap(plane)) { client async throws in
      for _ in 0..<20 { #expect(try await client.server() == "working.example") }
    }
    // Without repetitions, some calls have been to the other server.
    try plane.set(
      mesh([place("p", [(failing, "failing.example"), (working, "working.example")])], version: "2")
    )
    try await withMeshClient("xds:///greeter", bootstrap(plane)) { client async throws in
      var failure: GRPCStatus?
      while failure == nil {
        do {
          #expect(try await client.server() == "working.example")
        } catch let status as GRPCStatus { failure = status }
      }
      #expect(failure?.message == "failing.example")
    }
  }

  // MARK: TLS

  private func answer(
    _ host: String,
    _ change: (inout ChannelOptions, XDSBootstrap) -> Void,
    cluster: [String: Any] = [:]
  ) async throws -> Result<String, GRPCStatus> {
    let plane = try PlanePeer()
    let server = try start(.usual, TestCertificates.server)
    try plane.set(mesh([place("p", [(server, host)])], cluster: cluster))
    var bootstrap = bootstrap(plane)
    let set = CertificateSet(credentials: TestCertificates.client, trustRoots: TestCertificates.authority)
    bootstrap.setCertificateProvider(MemoryCertificates(set), named: "roots")
    let changed: (inout ChannelOptions) -> Void = { [bootstrap] in change(&$0, bootstrap) }
    return try await withMeshClient("xds:///greeter", bootstrap, changed) { client async throws in
      do {
        // The second call finds what the first one has found out.
        let first = try await client.server()
        #expect(try await client.server() == first)
        return .success(first)
      } catch let status as GRPCStatus { return .failure(status) }
    }
  }

  /// By the rules for the name of the target: no other part of the host counts, nor the case of letters.
  @Test(arguments: [
    ("switchboard.test", true), ("Switchboard.TEST:8443", true), ("localhost:1", true),
    ("127.0.0.1:80", true),
    ("[::1]:80", true), ("other.test", false), ("a.switchboard.test", false), ("test", false),
    ("127.0.0.2", false), (".switchboard.test", false), ("switchboard.test:", false), (":80", false),
    ("a:b:c", false), ("*.test", false), ("switchboard.test.", true),
  ])
  func theCertificateOfAServerMustNameTheHost(_ host: String, _ isNamed: Bool) async throws {
    let answer = try await answer(
      host,
      { options, _ in
        options.security = .tls(
          ClientTLS(trustRoots: TestCertificates.authority, serverNameOverride: "switchboard.test")
        )
      }
    )
    switch answer {
    case .success(let seen): #expect(isNamed && seen == host)
    case .failure(let status):
      #expect(!isNamed && status.code == .unavailable, "\(status)")
      #expect(
        status.message
          == "the certificate of the server does not name \(host), which the call would have as :authority"
      )
    }
  }

  /// A control plane that says how servers are secured says which servers are the right ones too.
  @Test func aClustersOwnSecurityAcceptsAllHosts() async throws {
    let context: [String: Any] = [
      "@type": "type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext",
      "commonTlsContext": [
        "validationContext": ["caCertificateProviderInstance": ["instanceName": "roots"]]
      ],
    ]
    let answer = try await answer(
      "other.test",
      { options, bootstrap in
        options.resolvers = [
          XDSResolver(bootstrap: bootstrap, usesClusterSecurity: true, logger: .quiet)
        ]
      },
      cluster: ["transportSocket": ["name": "tls", "typedConfig": context] as [String: Any]]
    )
    #expect(try answer.get() == "other.test")
  }

  // MARK: Refusals

  @Test(
    arguments: [
      ("a b", "has characters that HTTP does not allow in a host: a b"),
      ("a\r\nx-admin: 1", "has characters that HTTP does not allow in a host: a\\r\\nx-admin: 1"),
      ("user@a.example", "has characters that HTTP does not allow in a host: user@a.example"),
      ("ä.example", "has characters that HTTP does not allow in a host: ä.example"),
      (String(repeating: "a", count: 260), "has more than 259 bytes"),
      (String(repeating: "a", count: 65_536), "has more than 259 bytes"),
    ],
    [true, false]
  )
  func hostsThatCannotBeSentAreRefused(_ host: (name: String, reason: String), _ isTrusted: Bool) async throws
  {
    let plane = try PlanePeer()
    let server = try start()
    try plane.set(mesh([place("p", [(server, host.name)])]))
    try await withMeshClient("xds:///greeter", bootstrap(plane, isTrusted: isTrusted)) {
      client async throws in
      await #expect(throws: GRPCStatus.self) { try await client.server() }
      #expect(
        try plane.nextAnswer("endpoints", ["one"]).reason
          == "one: endpoints[0].lb_endpoints[0].endpoint.hostname: \(host.reason)"
      )
    }
  }
}
