import CallTestSupport
import CertificateSupport
import EchoService
import Foundation
import ServerTestSupport
import Switchboard
import SwitchboardXDS
import TestSupport
import Testing

/// Servers whose security a control plane decides about, by certificate providers of the client (gRFC A29).
@Suite(.mayBlock, .timeLimit(.minutes(5))) struct SecurityCallTests {
  /// What both providers of the client have.
  private static let client = CertificateSet(
    credentials: TestCertificates.client,
    trustRoots: SpecialCertificates.authority
  )

  /// A cluster whose servers show a certificate of the roots, with one of the names.
  private func secured(_ cluster: String, names: [[String: Any]] = [], sni: String? = nil) -> [String: Any] {
    var validation: [String: Any] = ["caCertificateProviderInstance": ["instanceName": "roots"]]
    validation["matchSubjectAltNames"] = names
    let common: [String: Any] = [
      "validationContext": validation, "tlsCertificateProviderInstance": ["instanceName": "own"],
    ]
    var context: [String: Any] = [
      "@type": "type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext",
      "commonTlsContext": common,
    ]
    if let sni { (context["sni"], context["autoSniSanValidation"]) = (sni, true) }
    let socket: [String: Any] = ["name": "envoy.transport_sockets.tls", "typedConfig": context]
    return Mesh.cluster(cluster, more: ["transportSocket": socket])
  }

  private func mesh(_ cluster: [String: Any], port: Int, version: String = "1") -> Mesh {
    var mesh = Mesh("greeter", version: version, routes: [Mesh.route(to: "one")], clusters: [:])
    mesh.clusters = [cluster]
    mesh.endpoints = [Mesh.assignment("one", ports: [port])]
    return mesh
  }

  private func bootstrap(_ plane: PlanePeer, _ provider: MemoryCertificates) -> XDSBootstrap {
    var bootstrap = plane.bootstrap
    bootstrap.setCertificateProvider(provider, named: "own")
    bootstrap.setCertificateProvider(provider, named: "roots")
    return bootstrap
  }

  /// Runs `body` with a control plane and a server that asks its clients for certificates.
  private func withSecuredServer(
    _ credentials: TLSCredentials = SpecialCertificates.named,
    _ body: (PlanePeer, Server, Int) async throws -> Void
  ) async throws {
    let plane = try PlanePeer()
    var options = ServerOptions()
    options.tls = ServerTLS(
      credentials: credentials,
      clientCertificates: .required,
      trustRoots: TestCertificates.authority
    )
    options.logger = .quiet
    try await withServer([NamedEcho(name: "secured")], options: options) { server, address async throws in
      try await body(plane, server, Int(address.port))
    }
  }

  private func withSecuredClient<Value>(
    _ bootstrap: XDSBootstrap,
    _ body: (Echo_EchoClient) async throws -> Value
  ) async throws -> Value {
    let resolver = XDSResolver(bootstrap: bootstrap, usesClusterSecurity: true, logger: .quiet)
    return try await withMeshClient("xds:///greeter", bootstrap, { $0.resolvers = [resolver] }, body)
  }

  @Test(arguments: [
    (#"[]"#, true), (#"[{"exact": "spiffe://switchboard.test/client"}]"#, true),
    (#"[{"exact": "other"}, {"prefix": "spiffe://switchboard.test/"}]"#, true),
    (#"[{"suffix": ".other"}]"#, false),
    (#"[{"contains": "@switchboard"}]"#, true), (#"[{"safeRegex": {"regex": "spiffe://[^/]+/cl.*"}}]"#, true),
    (#"[{"safeRegex": {"regex": "spiffe"}}]"#, false), (#"[{"exact": "CLIENT.switchboard.test"}]"#, true),
    (#"[{"exact": "2001:db8::1"}]"#, true), (#"[{"exact": "SPIFFE://switchboard.test/client"}]"#, false),
    (#"[{"exact": "SPIFFE://switchboard.test/client", "ignoreCase": true}]"#, true),
  ])
  func aServerIsTalkedToIfOneOfItsNamesMatches(_ rules: String, _ isAccepted: Bool) async throws {
    let names = try #require(JSONSerialization.jsonObject(with: Data(rules.utf8)) as? [[String: Any]])
    try await withSecuredServer { plane, _, port async throws in
      try plane.set(mesh(secured("one", names: names), port: port))
      try await withSecuredClient(bootstrap(plane, MemoryCertificates(Self.client))) { client async throws in
        do {
          let answer = try await client.server()
          #expect(isAccepted && answer == "secured")
        } catch let status as GRPCStatus {
          #expect(!isAccepted && status.code == .unavailable, "\(status)")
          #expect(status.message?.contains("it has none of the names that are expected") == true)
        }
      }
    }
  }

  @Test func theNameThatIsSentMayBeTheOneThatIsExpected() async throws {
    try await withSecuredServer { plane, _, port async throws in
      try plane.set(
        mesh(secured("one", names: [["exact": "other"]], sni: "client.switchboard.test"), port: port)
      )
      try await withSecuredClient(bootstrap(plane, MemoryCertificates(Self.client))) { client async throws in
        #expect(try await client.server() == "secured")
      }
    }
  }

  /// Who does not ask for it, has the channel's security.
  @Test func aChannelMayHaveItsOwnSecurity() async throws {
    try await withMesh(servers: 1) { plane, ports async throws in
      try plane.set(mesh(secured("one"), port: ports[0]))
      let bootstrap = bootstrap(plane, MemoryCertificates(Self.client))
      let log = LogEntries()
      let resolver = XDSResolver(bootstrap: bootstrap, logger: Logger(log, minimumLevel: .warning))
      try await withMeshClient("xds:///greeter", bootstrap, { $0.resolvers = [resolver] }) {
        client async throws in
        #expect(try await client.server() == "s0")
      }
      // The control plane wanted something else.
      #expect(log.all.filter { $0.message.contains("usesClusterSecurity") }.count == 1)
      // A cluster without security has the channel's too.
      try plane.set(mesh(Mesh.cluster("one"), port: ports[0], version: "2"))
      try await withSecuredClient(bootstrap) { client async throws in
        #expect(try await client.server() == "s0")
      }
    }
  }

  @Test func noCallIsLostWhileCertificatesRotate() async throws {
    try await withSecuredServer { plane, server, port async throws in
      let provider = MemoryCertificates(Self.client)
      try plane.set(mesh(secured("one"), port: port))
      try await withSecuredClient(bootstrap(plane, provider)) { lasting async throws in
        for turn in 0..<6 {
          // Both sides have other certificates, by other authorities in turn.
          let isNew = turn % 2 == 1
          try server.reload(
            ServerTLS(
              credentials: isNew ? TestCertificates.server : SpecialCertificates.named,
              clientCertificates: .required,
              trustRoots: TestCertificates.authority
            )
          )
          var set = Self.client
          if isNew { set.trustRoots = TestCertificates.authority }
          provider.replace(with: set)
          #expect(try await lasting.server() == "secured")
          try await withSecuredClient(bootstrap(plane, provider)) { late async throws in
            #expect(try await late.server() == "secured")
          }
        }
      }
    }
  }

  /// Connections wait for certificates that are not there yet, and calls say what is missing.
  @Test func filesThatAreMissingAreWaitedFor() async throws {
    try await withSecuredServer { plane, _, port async throws in
      let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      defer { try? FileManager.default.removeItem(at: folder) }
      func path(_ name: String) -> String { folder.appending(path: name).path }
      let files: [String: Any] = [
        "certificate_file": path("chain"), "private_key_file": path("key"),
        "ca_certificate_file": path("roots"),
        "refresh_interval": "0.01s",
      ]
      let plugin: [String: Any] = ["plugin_name": "file_watcher", "config": files]
      let server: [String: Any] = [
        "server_uri": "127.0.0.1:\(plane.port)", "channel_creds": [["type": "insecure"]],
      ]
      let json: [String: Any] = [
        "xds_servers": [server], "certificate_providers": ["own": plugin, "roots": plugin],
      ]
      let bootstrap = try XDSBootstrap(
        json: String(decoding: try JSONSerialization.data(withJSONObject: json), as: UTF8.self)
      )
      try plane.set(mesh(secured("one"), port: port))
      try await withSecuredClient(bootstrap) { client async throws in
        let missing = await #expect(throws: GRPCStatus.self) { try await client.server() }
        #expect(missing?.code == .unavailable, "\(missing as Any)")
        #expect(missing?.message?.contains("No such file or directory") == true)
        for (name, source) in [
          ("chain", TestCertificates.clientCertificate), ("key", TestCertificates.clientKey),
          ("roots", SpecialCertificates.authority),
        ] {
          guard case .bytes(let bytes) = source else { continue }
          try Data(bytes).write(to: folder.appending(path: name))
        }
        while (try? await client.server()) != "secured" { try Task.checkCancellation() }
      }
    }
  }

  /// A cluster that becomes another kind of secured one: its old connections take no more calls, and none is lost.
  @Test func anotherSecurityIsUsedAtOnce() async throws {
    try await withSecuredServer { plane, _, port async throws in
      try await withServer([NamedEcho(name: "plain")]) { _, plain async throws in
        let plainPort = Int(plain.port)
        let bootstrap = bootstrap(plane, MemoryCertificates(Self.client))
        try plane.set(mesh(Mesh.cluster("one"), port: plainPort))
        try await withSecuredClient(bootstrap) { client async throws in
          for turn in 0..<4 {
            let isSecured = turn % 2 == 1
            try plane.set(
              mesh(
                isSecured ? secured("one") : Mesh.cluster("one"),
                port: isSecured ? port : plainPort,
                version: "\(turn + 2)"
              )
            )
            let expected = isSecured ? "secured" : "plain"
            while (try? await client.server()) != expected { try Task.checkCancellation() }
          }
        }
      }
    }
  }
}
