import InteropService
import Switchboard
import SwitchboardServices
import Testing

@testable import Interop

/// What the server does for tests of meshes.
@Suite(.timeLimit(.minutes(5))) struct MeshServerTests {
  private func withServer(
    _ flags: [String] = [],
    _ body: (InteropServer, Grpc_Testing_TestServiceClient) async throws -> Void
  ) async throws {
    let server = try InteropServer(try Arguments(["server", "--host_name_override=here"] + flags))
    let client = try InteropClient(
      try Arguments(["client"] + Link.plaintext.clientFlags(server.addresses))
    )
    try await body(server, client.service)
    await client.shutDown()
    await server.server.shutDown(grace: .zero)
  }

  private func options(_ metadata: [(String, String)]) -> CallOptions {
    CallOptions(timeout: .seconds(60), initialMetadata: HPACKHeaders(metadata))
  }

  @Test func aServerSaysWhichOneItIs() async throws {
    try await withServer(["--server_id=seven"]) { _, client async throws in
      let unary = client.makeUnaryCallCall(Grpc_Testing_SimpleRequest())
      #expect(try await unary.initialMetadata["hostname"] == ["here"])
      let response = try await unary.response
      #expect(response.hostname == "here" && response.serverID == "seven")
      let empty = client.makeEmptyCallCall(Grpc_Testing_Empty())
      #expect(try await empty.initialMetadata["hostname"] == ["here"])
    }
  }

  @Test(arguments: [
    ("error-code-8", GRPCStatus.Code.resourceExhausted), ("sleep-0, error-code-14", .unavailable),
    ("hostname=here error-code-5", .notFound), ("error-code-99", .unknown),
    ("sleep-soon", .invalidArgument), ("hostname=here", .invalidArgument),
  ])
  func aCallFailsAsItsMetadataAsk(_ behavior: String, _ code: GRPCStatus.Code) async throws {
    try await withServer { _, client async throws in
      let options = options([("rpc-behavior", behavior)])
      let unary = await #expect(throws: GRPCStatus.self) {
        try await client.unaryCall(Grpc_Testing_SimpleRequest(), callOptions: options)
      }
      let empty = await #expect(throws: GRPCStatus.self) {
        try await client.emptyCall(Grpc_Testing_Empty(), callOptions: options)
      }
      #expect(unary?.code == code && empty?.code == code)
    }
  }

  @Test(arguments: [
    "hostname=there error-code-5", "error-code-0", "dance", "", "succeed-on-retry-attempt-0,error-code-5",
  ])
  func whatIsNotAskedOfThisServerHasNoEffect(_ behavior: String) async throws {
    try await withServer { _, client async throws in
      _ = try await client.emptyCall(Grpc_Testing_Empty(), callOptions: options([("rpc-behavior", behavior)]))
    }
  }

  @Test func aRetrySucceedsWhenItsMetadataAskForThat() async throws {
    try await withServer { server, _ async throws in
      var settings = ChannelOptions()
      settings.serviceConfig = try ServiceConfig(
        json: """
          {"methodConfig": [{"name": [{}], "retryPolicy": {"maxAttempts": 4, "initialBackoff": "0.001s", \
          "maxBackoff": "0.001s", "backoffMultiplier": 1, "retryableStatusCodes": ["UNAVAILABLE"]}}]}
          """
      )
      let port = server.addresses[0].port
      let channel = try Channel.connect(host: "localhost", port: port, options: settings)
      let client = Grpc_Testing_TestServiceClient(channel: channel)
      for (wanted, code) in [(2, GRPCStatus.Code.ok), (9, .unavailable)] {
        let options = options([("rpc-behavior", "succeed-on-retry-attempt-\(wanted),error-code-14")])
        let status = await client.makeEmptyCallCall(Grpc_Testing_Empty(), callOptions: options).status
        #expect(status.code == code)
      }
      await channel.shutDown(grace: .zero)
    }
  }

  @Test func aCallThatIsKeptOpenEndsWithItsDeadline() async throws {
    try await withServer { _, client async throws in
      var options = options([("rpc-behavior", "keep-open")])
      options.timeout = .milliseconds(50)
      let status = await #expect(throws: GRPCStatus.self) {
        try await client.emptyCall(Grpc_Testing_Empty(), callOptions: options)
      }
      #expect(status?.code == .deadlineExceeded)
    }
  }

  /// All services are at both ports, as those of others are without security from a control plane.
  @Test func othersSayWhetherTheServerIsHealthy() async throws {
    let first = try InteropServer(try Arguments(["server"]))
    let free = first.addresses[0].port
    await first.server.shutDown(grace: .zero)
    try await withServer(["--maintenance_port=\(free)"]) { server, _ async throws in
      #expect(server.addresses.map(\.port).contains(free))
      let channel = try Channel.connect(host: "localhost", port: free)
      let health = Grpc_Health_V1_HealthClient(channel: channel)
      let lever = Grpc_Testing_XdsUpdateHealthServiceClient(channel: channel)
      #expect(try await health.check(Grpc_Health_V1_HealthCheckRequest()).status == .serving)
      _ = try await lever.setNotServing(Grpc_Testing_Empty())
      #expect(try await health.check(Grpc_Health_V1_HealthCheckRequest()).status == .notServing)
      _ = try await lever.setServing(Grpc_Testing_Empty())
      #expect(try await health.check(Grpc_Health_V1_HealthCheckRequest()).status == .serving)
      await channel.shutDown(grace: .zero)
    }
  }

  @Test func securityFromAControlPlaneIsRefused() {
    #expect(throws: Arguments.UsageError.self) {
      try InteropServer(try Arguments(["server", "--secure_mode=true"]))
    }
  }
}
