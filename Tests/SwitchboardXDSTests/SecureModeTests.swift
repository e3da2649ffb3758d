import CertificateSupport
import Foundation
import ServerTestSupport
import Switchboard
import TestSupport
import Testing

/// gRPC's test client with `--secure_mode`, at a server of ours and at one of grpcio.
@Suite(.mayBlock, .timeLimit(.minutes(5))) struct SecureModeTests {
  /// Runs `body` with a folder that has what a client shows and trusts, and what a server shows and trusts.
  private func withCertificates(_ body: (URL) async throws -> Void) async throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    for (name, source) in [
      ("cert.pem", TestCertificates.clientCertificate), ("key.pem", TestCertificates.clientKey),
      ("ca.pem", SpecialCertificates.authority), ("server.pem", SpecialCertificates.namedCertificate),
      ("server-key.pem", SpecialCertificates.namedKey), ("clients.pem", TestCertificates.authority),
    ] {
      guard case .bytes(let bytes) = source else { continue }
      try Data(bytes).write(to: folder.appending(path: name))
    }
    try await body(folder)
  }

  private func mesh(
    _ name: String,
    version: String = "1",
    _ port: Int,
    isSecured: Bool,
    serverName: String = "client.switchboard.test"
  ) -> Mesh {
    let instance = ["instanceName": "client-side"]
    let validation: [String: Any] = [
      "caCertificateProviderInstance": instance, "matchSubjectAltNames": [["exact": serverName]],
    ]
    let context: [String: Any] = [
      "@type": "type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext",
      "commonTlsContext": ["tlsCertificateProviderInstance": instance, "validationContext": validation],
    ]
    let socket: [String: Any] = ["name": "envoy.transport_sockets.tls", "typedConfig": context]
    var mesh = Mesh(name, version: version, routes: [Mesh.route(to: "one")], clusters: [:])
    mesh.clusters = [Mesh.cluster("one", more: isSecured ? ["transportSocket": socket] : [:])]
    mesh.endpoints = [Mesh.assignment("one", ports: [port])]
    return mesh
  }

  @Test func connectionsAreSecuredAsTheControlPlaneSays() async throws {
    try await withCertificates { folder async throws in
      let plane = try PlanePeer()
      let tls = [
        "--use_tls", "--tls_cert_file=\(folder.path)/server.pem",
        "--tls_key_file=\(folder.path)/server-key.pem",
      ]
      let binaries = try InteropBinaries(
        "secured",
        plane,
        servers: 1,
        ["--secure_mode=true"],
        serverFlags: tls,
        certificates: folder.path
      )
      let ours = binaries.servers[0].port
      let peer = try PythonPeer(
        "secured_server.py",
        ["server.pem", "server-key.pem", "clients.pem"].map { "\(folder.path)/\($0)" }
      )
      defer { peer.stop() }
      let grpcio = try #require(peer.line().flatMap { Int($0) })
      try plane.set(mesh("secured", ours, isSecured: true))
      try await binaries.withStatistics { channel async throws in
        #expect(try await channel.nextCalls().rpcsByPeer == ["secured-0": 100])
        // This one asks for the client's certificate too.
        try plane.set(mesh("secured", version: "2", grpcio, isSecured: true))
        try await channel.waitForCalls { $0.rpcsByPeer == ["grpcio": 100] }
        // Its certificate has another name.
        try plane.set(mesh("secured", version: "3", grpcio, isSecured: true, serverName: "other"))
        try await channel.waitForCalls { $0.numFailures == 100 }
      }
    }
  }

  @Test func whatTheControlPlaneDoesNotSecureIsInPlaintext() async throws {
    try await withCertificates { folder async throws in
      let plane = try PlanePeer()
      let binaries = try InteropBinaries(
        "open",
        plane,
        servers: 1,
        ["--secure_mode=true"],
        certificates: folder.path
      )
      try plane.set(mesh("open", binaries.servers[0].port, isSecured: false))
      try await binaries.withStatistics { channel async throws in
        #expect(try await channel.nextCalls().rpcsByPeer == ["open-0": 100])
        // A cluster that is secured is not called in plaintext.
        try plane.set(mesh("open", version: "2", binaries.servers[0].port, isSecured: true))
        try await channel.waitForCalls { $0.numFailures == 100 }
      }
    }
  }

  /// As in all clients of gRPC: their channels have credentials that the control plane does not choose.
  @Test func withoutTheFlagAllIsInPlaintext() async throws {
    try await withCertificates { folder async throws in
      let plane = try PlanePeer()
      let binaries = try InteropBinaries("plain", plane, servers: 1, certificates: folder.path)
      try plane.set(mesh("plain", binaries.servers[0].port, isSecured: true))
      try await binaries.withStatistics { channel async throws in
        #expect(try await channel.nextCalls().rpcsByPeer == ["plain-0": 100])
      }
    }
  }
}
