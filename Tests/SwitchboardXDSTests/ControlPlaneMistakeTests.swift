import CallTestSupport
import CertificateSupport
import EchoService
import EchoTestSupport
import Foundation
import ServerTestSupport
import Switchboard
import SwitchboardXDS
import TestSupport
import Testing

/// What calls, and the log, say when a channel gets nothing from its control plane.
@Suite(.mayBlock, .timeLimit(.minutes(5))) struct ControlPlaneMistakeTests {
  private func message(_ bootstrap: XDSBootstrap) async throws -> String {
    try await withMeshClient("xds:///greeter", bootstrap) { client async throws in
      let failure = await #expect(throws: GRPCStatus.self) { try await client.server() }
      #expect(failure?.code == .unavailable)
      return failure?.message ?? ""
    }
  }

  @Test func aControlPlaneMayNotSpeakTLS() async throws {
    let plane = try PlanePeer()
    var bootstrap = plane.bootstrap
    bootstrap.servers[0].security = .tls()
    let message = try await message(bootstrap)
    #expect(
      message.contains(
        "(channel_creds of the xDS bootstrap are tls, in code .tls; for this control plane, they are insecure, in "
          + "code .plaintext)"
      ),
      "\(message)"
    )
    #expect(!message.contains("ChannelOptions"), "\(message)")
  }

  @Test func aControlPlaneMayRequireTLS() async throws {
    var options = ServerOptions()
    options.tls = ServerTLS(credentials: TestCertificates.server)
    options.logger = .quiet
    try await withServer([NamedEcho(name: "plane")], options: options) { _, address async throws in
      let server = XDSBootstrap.Server("127.0.0.1:\(address.port)", security: .plaintext)
      let message = try await message(XDSBootstrap(servers: [server]))
      #expect(
        message.contains(
          "(channel_creds of the xDS bootstrap are insecure, in code .plaintext; for this control plane, they are "
            + "tls, in code .tls())"
        ),
        "\(message)"
      )
    }
  }

  /// The files of a bootstrap are read again (gRFC A65): first, the server is a stranger, and then it is known to be no control plane.
  @Test func filesOfTLSAreReadAgain() async throws {
    let roots = FileManager.default.temporaryDirectory.appending(path: "roots-\(UUID()).pem")
    defer { try? FileManager.default.removeItem(at: roots) }
    func write(_ source: PEMSource) throws {
      guard case .bytes(let bytes) = source else { return }
      try Data(bytes).write(to: roots, options: .atomic)
    }
    var options = ServerOptions()
    options.tls = ServerTLS(credentials: TestCertificates.server)
    options.logger = .quiet
    try write(TestCertificates.stranger)
    try await withServer([NamedEcho(name: "plane")], options: options) { _, address async throws in
      let bootstrap = try XDSBootstrap(
        json: """
          {"xds_servers": [{"server_uri": "localhost:\(address.port)", "channel_creds": [{"type": "tls",
            "config": {"ca_certificate_file": "\(roots.path)", "refresh_interval": "0.05s"}}]}]}
          """
      )
      try await withMeshClient("xds:///greeter", bootstrap) { client async throws in
        let first = await #expect(throws: GRPCStatus.self) { try await client.server() }
        #expect(first?.message?.contains("certificate") == true, "\(first as Any)")
        try write(TestCertificates.authority)
        var last = first
        while last?.message?.contains("there is no method") != true {
          try Task.checkCancellation()
          last = await #expect(throws: GRPCStatus.self) { try await client.server() }
        }
      }
    }
  }

  /// A server that cannot be reached may have gone elsewhere, of which only the control plane knows (gRFC A88).
  @Test func aFailureSaysThatTheControlPlaneIsLost() async throws {
    let plane = try PlanePeer()
    try plane.set(Mesh("greeter", routes: [Mesh.route(to: "one")], clusters: ["one": [1]]))
    try await withMeshClient("xds:///greeter", plane.bootstrap) { client async throws in
      let first = await #expect(throws: GRPCStatus.self) { try await client.server() }
      #expect(first?.message?.contains("cannot connect to greeter (127.0.0.1:1)") == true, "\(first as Any)")
      #expect(first?.message?.contains("control plane") == false, "\(first as Any)")
      plane.kill()
      let note = "the control plane 127.0.0.1:\(plane.port) cannot be asked: "
      var last = first
      while last?.message?.contains(note) != true {
        try Task.checkCancellation()
        last = await #expect(throws: GRPCStatus.self) { try await client.server() }
      }
      #expect(last?.code == .unavailable && last?.message?.contains("cannot connect to greeter") == true)
    }
  }

  private func timeOut(_ client: Echo_EchoClient) async -> GRPCStatus? {
    var options = CallOptions()
    options.timeout = .milliseconds(500)
    return await #expect(throws: GRPCStatus.self) {
      _ = try await client.get(Echo_EchoRequest(), callOptions: options)
    }
  }

  /// It is not known before the time for the listener is up that there is none.
  @Test func aCallSaysWhatItsChannelWaitsFor() async throws {
    let plane = try PlanePeer()
    let log = LogEntries()
    let resolver = XDSResolver(bootstrap: plane.bootstrap, logger: Logger(log, minimumLevel: .warning))
    try await withMeshClient(
      "xds:///nobody",
      plane.bootstrap,
      { $0.resolvers = [resolver] },
      {
        client async throws in
        let failure = await timeOut(client)
        let awaited = "the listener nobody of the control plane 127.0.0.1:\(plane.port)"
        #expect(failure?.code == .deadlineExceeded)
        #expect(
          failure?.message?.hasSuffix("to be resolved (which needs \(awaited))") == true,
          "\(failure as Any)"
        )
        async let _ = client.server()
        while !log.all.contains(where: { $0.message == "the channel waits for \(awaited)" }) {
          try Task.checkCancellation()
          try await Task.sleep(for: .milliseconds(20))
        }
        #expect(log.all.first?.metadata["target"] == "xds:///nobody")
      }
    )
  }

  /// All of it is needed at once.
  @Test func aCallSaysHowMuchItsChannelWaitsFor() async throws {
    let plane = try PlanePeer()
    var mesh = Mesh("greeter", routes: [Mesh.split([("b", 1), ("a", 1), ("c", 1)])], clusters: [:])
    mesh.clusters = []
    try plane.set(mesh)
    try await withMeshClient("xds:///greeter", plane.bootstrap) { client async throws in
      async let _ = client.server()
      try plane.next("asked", "clusters")
      let failure = await timeOut(client)
      let awaited = "the cluster a of the control plane 127.0.0.1:\(plane.port), and 2 more"
      #expect(failure?.message?.hasSuffix("(which needs \(awaited))") == true, "\(failure as Any)")
    }
  }
}
