import SwitchboardCall
import Testing

@testable import SwitchboardHTTP2

@Suite(.timeLimit(.minutes(1))) struct TLSTests {
  private func channelOptions(_ tls: ClientTLS) -> ChannelOptions {
    var options = ChannelOptions()
    options.tls = tls
    return options
  }

  private func serverOptions(_ tls: ServerTLS) -> ServerOptions {
    var options = ServerOptions()
    options.tls = tls
    return options
  }

  private let trusting = ClientTLS(trustRoots: TestCertificates.authority)

  @Test(arguments: [TLSVersion.tls12, .tls13]) func bothVersionsWork(_ version: TLSVersion) async throws {
    let server = ServerTLS(credentials: TestCertificates.server, minimumVersion: version)
    try await TestPair.with(.tls, server: serverOptions(server)) { pair async throws in
      let large = [UInt8](repeating: 7, count: 1_000_000)
      #expect(try await pair.get(TestService.get, large) == large)
    }
  }

  @Test func aServerThatNobodyVouchesForIsRefused() async throws {
    let channel = channelOptions(ClientTLS(trustRoots: TestCertificates.stranger))
    try await TestPair.with(.tls, channel: channel) { pair async throws in
      let failure = await status { _ = try await pair.get() }
      #expect(failure?.code == .unavailable)
      #expect(failure?.message?.contains("certificate is not accepted") == true)
    }
  }

  @Test func aServerOfAnotherNameIsRefused() async throws {
    var tls = trusting
    tls.serverNameOverride = "elsewhere.test"
    try await TestPair.with(.tls, channel: channelOptions(tls)) { pair async throws in
      #expect(await status { _ = try await pair.get() }?.code == .unavailable)
    }
  }

  @Test func theNameToCheckCanBeGiven() async throws {
    var tls = trusting
    tls.serverNameOverride = "switchboard.test"
    try await TestPair.with(.tls, channel: channelOptions(tls)) { pair async throws in
      #expect(try await pair.get() == [1, 2, 3])
    }
  }

  @Test func aRequiredClientCertificateIsShownToHandlers() async throws {
    let server = ServerTLS(
      credentials: TestCertificates.server,
      clientCertificates: .required,
      trustRoots: TestCertificates.authority
    )
    var client = trusting
    client.credentials = TestCertificates.client
    try await TestPair.with(.tls, server: serverOptions(server), channel: channelOptions(client)) {
      pair async throws in
      let identity = String(decoding: try await pair.get(TestService.identify), as: UTF8.self)
      #expect(identity == "CN=test client client.switchboard.test")
    }
  }

  @Test func aMissingClientCertificateIsRefusedWhereOneIsRequired() async throws {
    let server = ServerTLS(
      credentials: TestCertificates.server,
      clientCertificates: .required,
      trustRoots: TestCertificates.authority
    )
    try await TestPair.with(.tls, server: serverOptions(server)) { pair async throws in
      #expect(await status { _ = try await pair.get() }?.code == .unavailable)
    }
  }

  @Test func aMissingClientCertificateIsFineWhereItIsOptional() async throws {
    let server = ServerTLS(
      credentials: TestCertificates.server,
      clientCertificates: .optional,
      trustRoots: TestCertificates.authority
    )
    try await TestPair.with(.tls, server: serverOptions(server)) { pair async throws in
      #expect(try await pair.get() == [1, 2, 3])
    }
  }

  @Test func aPlaintextClientOnATLSPortFails() async throws {
    let server = try Server(
      providers: [TestService()],
      options: serverOptions(ServerTLS(credentials: TestCertificates.server))
    )
    let address = try server.bind(host: "127.0.0.1", port: 0)
    let channel = try Channel(target: "\(address)")
    let failure = await status {
      _ = try await channel.unary(
        TestService.get,
        [],
        requests: BytesMarshaller(),
        responses: BytesMarshaller()
      )
    }
    #expect(failure?.code == .unavailable)
    await channel.shutDown(grace: .zero)
    await server.shutDown(grace: .zero)
  }

  @Test func aTLSClientOnAPlaintextPortFails() async throws {
    let server = try Server(providers: [TestService()])
    let address = try server.bind(host: "127.0.0.1", port: 0)
    let channel = try Channel(target: "\(address)", options: channelOptions(trusting))
    let failure = await status {
      _ = try await channel.unary(
        TestService.get,
        [],
        requests: BytesMarshaller(),
        responses: BytesMarshaller()
      )
    }
    #expect(failure?.code == .unavailable)
    #expect(failure?.message?.hasPrefix("TLS: ") == true)
    await channel.shutDown(grace: .zero)
    await server.shutDown(grace: .zero)
  }

  @Test func certificatesAreReloadedForNewConnections() async throws {
    let server = try Server(
      providers: [TestService()],
      options: serverOptions(ServerTLS(credentials: TestCertificates.server))
    )
    let address = try server.bind(host: "127.0.0.1", port: 0)
    try server.reload(ServerTLS(credentials: TestCertificates.renewed))
    var tls = trusting
    tls.serverNameOverride = "switchboard.test"
    // The renewed certificate does not carry this name.
    for (name, isFine) in [("switchboard.test", false), ("localhost", true)] {
      tls.serverNameOverride = name
      let channel = try Channel(target: "\(address)", options: channelOptions(tls))
      let failure = await status {
        _ = try await channel.unary(
          TestService.get,
          [],
          requests: BytesMarshaller(),
          responses: BytesMarshaller()
        )
      }
      #expect((failure == nil) == isFine)
      await channel.shutDown(grace: .zero)
    }
    await server.shutDown(grace: .zero)
  }

  @Test func aKeyOfAnotherCertificateIsRefusedAtOnce() {
    let mixed = TLSCredentials(
      certificateChain: TestCertificates.serverCertificate,
      privateKey: TestCertificates.clientKey
    )
    #expect(throws: GRPCStatus.self) {
      try Server(providers: [], options: serverOptions(ServerTLS(credentials: mixed)))
    }
  }
}
