import Switchboard
import Testing

@testable import Interop

/// Every case for a server that follows the protocol, with our client and server.
@Suite(.timeLimit(.minutes(5))) struct OursTests {
  @Test(arguments: Link.allCases, TestCase.allCases.filter { !$0.isNegative })
  func allCasesPass(_ link: Link, _ test: TestCase) async throws {
    let server = try InteropServer(try Arguments(["server", accountFlag] + link.serverFlags))
    try await Outcomes.record(test, link.rawValue) {
      try await run(test, link.clientFlags(server.addresses))
    }
    await server.server.shutDown(grace: .zero)
  }

  @Test func tokenCasesFailOnAServerWithoutAccounts() async throws {
    let server = try InteropServer(try Arguments(["server"]))
    for test in [TestCase.oauth2AuthToken, .perRPCCredentials, .jwtTokenCredentials] {
      await #expect(throws: Unexpected.self) {
        try await run(test, Link.plaintext.clientFlags(server.addresses))
      }
    }
    await server.server.shutDown(grace: .zero)
  }

  @Test func additionalMetadataGoesWithEveryCall() async throws {
    let server = try InteropServer(try Arguments(["server"]))
    let flags = ["--additional_metadata=x-grpc-test-echo-initial:mine;other:thing"]
    let client = try InteropClient(
      try Arguments(["client"] + flags + Link.plaintext.clientFlags(server.addresses))
    )
    for options in [nil, CallOptions(compression: .gzip)] {
      let call = client.service.makeUnaryCallCall(try InteropClient.request(), callOptions: options)
      #expect(try await call.initialMetadata["x-grpc-test-echo-initial"] == ["mine"])
    }
    await client.shutDown()
    await server.server.shutDown(grace: .zero)
  }

  @Test func aSoakFailsBeyondItsLimits() async throws {
    let server = try InteropServer(try Arguments(["server"]))
    let flags = Link.plaintext.clientFlags(server.addresses)
    // The server does not send payloads of this size.
    let failing = flags + ["--soak_response_size=1000000000"]
    await #expect(throws: Unexpected.self) { try await run(.rpcSoak, failing) }
    try await run(.channelSoak, failing + ["--soak_max_failures=3"])
    await #expect(throws: Unexpected.self) {
      try await run(.rpcSoak, flags + ["--soak_overall_timeout_seconds=0"])
    }
    await #expect(throws: Unexpected.self) {
      try await run(.rpcSoak, flags + ["--soak_per_iteration_max_acceptable_latency_ms=0"])
    }
    await server.server.shutDown(grace: .zero)
  }

  @Test func anUntrustedServerFailsTheCase() async throws {
    let server = try InteropServer(try Arguments(["server", "--use_tls"]))
    let port = "--server_port=\(server.addresses[0].port)"
    for flags in [["--use_tls"], ["--use_tls", "--use_test_ca", "--server_host_override=other.example"]] {
      let status = await #expect(throws: GRPCStatus.self) { try await run(.emptyUnary, [port] + flags) }
      #expect(status?.code == .unavailable)
    }
    await server.server.shutDown(grace: .zero)
  }
}
