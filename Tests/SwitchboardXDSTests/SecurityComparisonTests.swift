import CertificateSupport
import Foundation
import ServerTestSupport
import Switchboard
import SwitchboardXDS
import TestSupport
import Testing

/// The same rules for names of servers through our client and through gRPC's own, with certificates from the same files. Not among
/// them are addresses of mail, which C-core does not look at.
@Suite(.mayBlock, .timeLimit(.minutes(5))) struct SecurityComparisonTests {
  @Test(arguments: [
    #"[]"#, #"[{"exact": "client.switchboard.test"}]"#, #"[{"exact": "CLIENT.switchboard.test"}]"#,
    #"[{"exact": "spiffe://switchboard.test/client"}]"#, #"[{"prefix": "SPIFFE:", "ignoreCase": true}]"#,
    #"[{"safeRegex": {"regex": "spiffe://[^/]*/client"}}]"#, #"[{"safeRegex": {"regex": "client"}}]"#,
    #"[{"exact": "10.0.0.1"}]"#,
    #"[{"exact": "2001:db8::1"}]"#, #"[{"contains": "nobody"}, {"suffix": ".org"}]"#,
  ])
  func namesOfServers(_ rules: String) async throws {
    let plane = try PlanePeer()
    let text = try plane.securedBootstrap()
    var options = ServerOptions()
    options.tls = ServerTLS(
      credentials: SpecialCertificates.named,
      clientCertificates: .required,
      trustRoots: TestCertificates.authority
    )
    options.logger = .quiet
    try await withServer([NamedEcho(name: "s")], options: options) { _, address async throws in
      try plane.set(try mesh(rules, port: Int(address.port)))
      let resolver = XDSResolver(
        bootstrap: try XDSBootstrap(json: text),
        usesClusterSecurity: true,
        logger: .quiet
      )
      let ours = try await withMeshClient("xds:///greeter", plane.bootstrap, { $0.resolvers = [resolver] }) {
        client async throws in
        do {
          return try await client.server()
        } catch let status as GRPCStatus { return status.code.specName }
      }
      let peer = try PythonPeer(
        "grpcio_client.py",
        [text, "xds:///greeter", "2", "--control-plane-security"]
      )
      let line = try #require(peer.line())
      peer.stop()
      #expect(try JSONDecoder().decode([String: Int].self, from: Data(line.utf8)) == [ours: 2], "\(rules)")
    }
  }

  private func mesh(_ rules: String, port: Int) throws -> Mesh {
    let instance = ["instanceName": "files"]
    let names = try JSONSerialization.jsonObject(with: Data(rules.utf8))
    let common: [String: Any] = [
      "tlsCertificateProviderInstance": instance,
      "validationContext": ["caCertificateProviderInstance": instance, "matchSubjectAltNames": names],
    ]
    let context: [String: Any] = [
      "@type": "type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext",
      "commonTlsContext": common,
    ]
    let socket: [String: Any] = ["name": "envoy.transport_sockets.tls", "typedConfig": context]
    var mesh = Mesh("greeter", routes: [Mesh.route(to: "one")], clusters: [:])
    mesh.clusters = [Mesh.cluster("one", more: ["transportSocket": socket])]
    mesh.endpoints = [Mesh.assignment("one", ports: [port])]
    return mesh
  }
}
