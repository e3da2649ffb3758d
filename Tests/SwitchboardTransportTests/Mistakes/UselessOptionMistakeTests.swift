import CallTestSupport
import CertificateSupport
import ServerTestSupport
import SwitchboardBalancing
import SwitchboardCall
import SwitchboardCallObjects
import SwitchboardNetwork
import SwitchboardTransport
import Testing

/// Options without an effect are in the log, because several channels or servers may share them; those with which nothing
/// could work are refused.
@Suite(.timeLimit(.minutes(5))) struct UselessOptionMistakeTests {
  /// The warnings of a channel that is made with such options.
  private func ofChannel(
    _ target: String = "127.0.0.1:1",
    _ change: (inout ChannelOptions) throws -> Void
  ) throws -> [String] {
    let entries = LogEntries()
    var options = ChannelOptions()
    options.logger = Logger(entries, minimumLevel: .warning)
    try change(&options)
    _ = try Channel(target: target, options: options)
    return entries.all.map(\.message)
  }

  private func server(
    _ entries: LogEntries = LogEntries(),
    _ providers: [any CallHandlerProvider] = [TestService()],
    _ change: (inout ServerOptions) throws -> Void = { _ in }
  ) throws -> Server {
    var options = ServerOptions()
    options.logger = Logger(entries, minimumLevel: .warning)
    try change(&options)
    return try Server(providers: providers, options: options)
  }

  /// The warnings of a server that is made with such options.
  private func ofServer(
    _ providers: [any CallHandlerProvider] = [TestService()],
    _ change: (inout ServerOptions) throws -> Void = { _ in }
  ) throws -> [String] {
    let entries = LogEntries()
    _ = try server(entries, providers, change)
    return entries.all.map(\.message)
  }

  // MARK: Channels

  @Test func optionsOfAChannel() throws {
    #expect(try ofChannel { _ in } == [])
    #expect(
      try ofChannel { $0.keepaliveInterval = .seconds(1) }
        == ["ChannelOptions: keepaliveInterval is 1 s: 10 s is the least that gRPC allows, and is used"]
    )
    let alone = try ofChannel {
      $0.keepaliveTimeout = .seconds(5)
      $0.keepaliveWithoutCalls = true
    }
    #expect(alone.count == 2)
    #expect(alone.first?.hasPrefix("ChannelOptions: keepaliveTimeout has no effect") == true)
    #expect(alone.last?.hasPrefix("ChannelOptions: keepaliveWithoutCalls has no effect") == true)
    let http = try ofChannel {
      $0.connectGet = true
      $0.maxHTTP1Connections = 5
    }
    #expect(http.count == 2)
    #expect(http.first?.hasPrefix("ChannelOptions: connectGet has no effect") == true)
    let right = try ofChannel {
      $0.keepaliveInterval = .seconds(10)
      $0.keepaliveTimeout = .seconds(5)
      $0.connectGet = true
      $0.wireProtocol = .connect
      $0.maxHTTP1Connections = 5
    }
    #expect(right == [])
  }

  private struct Schemeless: Resolver {
    let schemes: [String] = []
    func start(_ target: Target, _ updates: ResolverUpdates) -> any Resolution { FinishedResolution() }
  }

  @Test func resolversThatAreNotUsed() throws {
    let resolver = StaticResolver([Endpoint([.unix(path: "/run/shop")])])
    #expect(try ofChannel("static:///x") { $0.resolvers = [resolver] } == [])
    #expect(
      try ofChannel("shop.example") { $0.resolvers = [resolver] } == [
        "ChannelOptions: resolvers is not used: the target has no scheme, so that it is a name in the DNS; write "
          + "static:///shop.example"
      ]
    )
    // A program that takes any target registers what it has.
    for target in [
      "dns:///shop.example", "ipv4:127.0.0.1:1", "unix:/run/shop", "127.0.0.1:1", "10.0.0.1:1", "[::1]:1",
      "localhost:1",
    ] {
      #expect(try ofChannel(target) { $0.resolvers = [resolver] } == [], "\(target)")
    }
    #expect(
      try ofChannel { $0.resolvers = [Schemeless()] }
        == ["ChannelOptions: resolvers has one without schemes, which no target can choose"]
    )
    let twice = try ofChannel("static:///x") { $0.resolvers = [resolver, resolver] }
    #expect(twice == ["ChannelOptions: resolvers has 2 for the scheme static, of which the first is used"])
  }

  private func refusal(_ change: (inout ChannelOptions) -> Void) -> String? {
    var options = ChannelOptions()
    change(&options)
    let error = #expect(throws: GRPCStatus.self) { try Channel(target: "127.0.0.1:1", options: options) }
    #expect(error?.code == .invalidArgument)
    return error?.message
  }

  @Test func anEmptyAuthorityAndAProxysURL() {
    #expect(refusal { $0.authority = "" }?.hasPrefix("ChannelOptions.authority is empty") == true)
    let proxy = refusal { $0.proxy = .http(host: "http://proxy.example:3128", port: 3128) }
    #expect(proxy?.contains("its host is a URL") == true)
  }

  @Test func connectingAChannelThatWasShutDown() async throws {
    let entries = LogEntries()
    var options = ChannelOptions()
    options.logger = Logger(entries, minimumLevel: .warning)
    let channel = try Channel(target: "127.0.0.1:1", options: options)
    await channel.shutDown(grace: .zero)
    channel.connect()
    while !Task.isCancelled, entries.all.isEmpty { await Task.yield() }
    #expect(
      entries.all.first?.message.hasPrefix("connect() was called after the channel was shut down") == true
    )
  }

  // MARK: Channels of a pool

  @Test func misspeltChannelArguments() async throws {
    let entries = LogEntries()
    try await withPool(try ChannelPool(logger: Logger(entries, minimumLevel: .warning))) {
      pool async throws in
      let options = CallOptions.with {
        $0.additionalChannelArgs = [
          "grpc.keepalive_time_mss": .integer(20_000), "grpc.keepalive_timeout_ms": .integer(1000),
        ]
      }
      let channel = Channel(host: "127.0.0.1:1", options: options, pool: pool)
      _ = await status { _ = try await Caller(channel: channel).get(options: options) }
      let warnings = entries.all.map(\.message).filter { $0.contains("additionalChannelArgs") }
      #expect(
        warnings == [
          "CallOptions: additionalChannelArgs has an argument without an effect: grpc.keepalive_time_mss "
            + "(did you mean grpc.keepalive_time_ms?)"
        ]
      )
    }
  }

  /// What resembles them would mislead.
  @Test func argumentsOfGRPCWithoutAnEffect() async throws {
    let entries = LogEntries()
    try await withPool(try ChannelPool(logger: Logger(entries, minimumLevel: .warning))) {
      pool async throws in
      let options = CallOptions.with {
        $0.additionalChannelArgs = [
          "grpc.max_send_message_length": .integer(20_000), "grpc.max_connection_age_mss": .integer(1000),
        ]
      }
      let channel = Channel(host: "127.0.0.1:1", options: options, pool: pool)
      _ = await status { _ = try await Caller(channel: channel).get(options: options) }
      let prefix = "CallOptions: additionalChannelArgs has an argument without an effect: "
      #expect(
        entries.all.map(\.message).filter { $0.contains("additionalChannelArgs") } == [
          prefix + "grpc.max_connection_age_mss (did you mean grpc.max_connection_age_ms?)",
          prefix
            + "grpc.max_send_message_length (a service config limits requests: maxRequestMessageBytes of a "
            + "methodConfig)",
        ]
      )
    }
  }

  /// The options of a channel are not those of its calls, unless the client has them too.
  @Test(arguments: [false, true]) func optionsOfCallsThatOnlyTheChannelHas(_ hasClient: Bool) async throws {
    let entries = LogEntries()
    try await withPool(try ChannelPool(logger: Logger(entries, minimumLevel: .warning))) {
      pool async throws in
      let options = CallOptions(timeout: .seconds(2), initialMetadata: ["tenant": "north"])
      let channel = Channel(host: "127.0.0.1:1", options: options, pool: pool)
      for _ in 0..<2 {
        _ = await status { _ = try await Caller(channel: channel).get(options: hasClient ? options : nil) }
      }
      let lost = entries.all.filter { $0.message.contains("passes them on to no call") }
      #expect(lost.map { $0.metadata["options"] } == (hasClient ? [] : ["timeout, initialMetadata"]))
    }
  }

  // MARK: Servers

  @Test func optionsOfAServer() throws {
    #expect(try ofServer() == [])
    let grace = try ofServer { $0.connectionAgeGrace = .seconds(1) }
    #expect(grace.count == 1)
    #expect(grace.first?.hasPrefix("ServerOptions: connectionAgeGrace has no effect") == true)
    let right = try ofServer {
      $0.connectionAgeGrace = .seconds(1)
      $0.maxConnectionIdle = .seconds(1)
    }
    #expect(right == [])
    #expect(
      try ofServer([]) == [
        "ServerOptions: the server has no providers, and answers every call with UNIMPLEMENTED"
      ]
    )
    let page = HTTPPage("GET", "/metrics") { _ in
      HTTPPage.Response(contentType: "text/plain", body: Array("x".utf8))
    }
    #expect(try ofServer([]) { $0.pages = [page] } == [])
  }

  private struct KeyGuard: ServerGuard {
    func check(_ headers: HPACKHeaders, of call: ServerCallContext) throws {}
  }

  private struct RoleGuard: ServerGuard {
    let role: String
    func check(_ headers: HPACKHeaders, of call: ServerCallContext) throws {}
  }

  @Test func aGuardThatRunsTwice() throws {
    let twice = try ofServer { $0.interceptorFactories = [KeyGuard(), KeyGuard(), KeyGuard()] }
    #expect(twice == ["the same interceptors run twice in every call"])
    let roles = try ofServer {
      $0.interceptorFactories = [KeyGuard(), RoleGuard(role: "a"), RoleGuard(role: "b")]
    }
    #expect(roles == [])
    let rate = RateGuard()
    let same = try ofServer { $0.interceptorFactories = [rate, KeyGuard(), rate] }
    #expect(same == ["the same interceptors run twice in every call"])
    #expect(try ofServer { $0.interceptorFactories = [RateGuard(), RateGuard()] } == [])
  }

  private final class RateGuard: ServerGuard {
    func check(_ headers: HPACKHeaders, of call: ServerCallContext) throws {}
  }

  private struct Guarded: CallHandlerProvider {
    let method = MethodDescriptor(service: "test.Guarded", method: "Get", type: .unary)
    let own: any ServerGuard
    var serviceName: String { method.service }
    var methodHandlers: [MethodHandler] {
      [
        method.bytes.unaryHandler(
          interceptors: { own.makeServerInterceptors(for: method) },
          { request, _ in request }
        )
      ]
    }
  }

  /// A guard that counts would count each call twice.
  @Test func aGuardOfTheServerAndOfAService() throws {
    let guards: [(any ServerGuard, String)] = [(RateGuard(), "RateGuard"), (KeyGuard(), "KeyGuard")]
    for (shared, name) in guards {
      let entries = LogEntries()
      _ = try server(entries, [Guarded(own: shared)]) { $0.interceptorFactories = [shared] }
      #expect(entries.all.map(\.metadata["guard"]) == [name])
      #expect(entries.all.first?.metadata["methods"] == "/test.Guarded/Get")
    }
    #expect(
      try ofServer([Guarded(own: RateGuard())]) { $0.interceptorFactories = [RateGuard(), KeyGuard()] } == []
    )
  }

  @Test func exceptionsWithoutARequirement() {
    let error = #expect(throws: GRPCStatus.self) {
      try server { $0.requiredInterceptors = RequiredInterceptors([], except: ["test.Service"]) }
    }
    #expect(error?.message?.contains("no interceptor is required") == true)
  }

  private struct Named: CallHandlerProvider {
    let method: MethodDescriptor
    var serviceName: String { method.service }
    var methodHandlers: [MethodHandler] { [method.bytes.unaryHandler { request, _ in request }] }
  }

  @Test(arguments: [
    ("/stock.Stock/", "/Find"), ("stock.Stock", "Find/"), ("", "Find"), ("stock.Stock", ""),
    ("stock.Stock", "Find it"), (" stock.Stock", "Find"), ("stock.Stock", "Find\n"),
    ("st\u{f6}ck.Stock", "Find"),
    ("stock.Stock", "Find?all"), ("stock.Stock", "Find#all"),
  ])
  func namesThatAreNone(_ service: String, _ method: String) {
    let named = Named(method: MethodDescriptor(service: service, method: method, type: .unary))
    let error = #expect(throws: GRPCStatus.self) { try server(LogEntries(), [named]) }
    #expect(error?.code == .invalidArgument)
    #expect(error?.message?.contains("the path is /shop.Shop/Get") == true)
  }

  @Test func addressesOfUnixSockets() async throws {
    let entries = LogEntries()
    let server = try server(entries) { $0.reusePort = true }
    let error = #expect(throws: GRPCStatus.self) { try server.bind(unixPath: "unix:///tmp/shop.sock") }
    #expect(error?.message?.contains("write bind(unixPath: \"/tmp/shop.sock\")") == true)
    #expect(entries.all.isEmpty)
    try server.bind(unixAbstractName: "@shop-\(UInt64.random(in: 0...UInt64.max))")
    let messages = entries.all.map(\.message)
    #expect(messages.count == 2)
    #expect(messages.first?.contains("begins with @") == true)
    #expect(messages.last == "ServerOptions: reusePort has no effect on a Unix socket")
    await server.shutDown(grace: .zero)
  }

  @Test func aGraceBelowZero() async throws {
    let entries = LogEntries()
    await (try server(entries)).shutDown(grace: .seconds(-5))
    #expect(entries.all.map(\.message) == ["the grace of a shutdown is -5 s: it counts as zero"])
  }

  // MARK: Certificates

  private func warnings(_ credentials: TLSCredentials) throws -> [String] {
    try ofServer { $0.tls = ServerTLS(credentials: credentials) }
  }

  @Test func aCertificateThatPeersWillRefuse() throws {
    #expect(try warnings(TestCertificates.server) == [])
    let expired = try warnings(SpecialCertificates.expired)
    #expect(expired.count == 1)
    #expect(expired.first?.hasPrefix("ServerOptions: the certificate has expired, ") == true)
    #expect(expired.first?.contains(" 2021 ") == true)
    let unnamed = SpecialCertificates.commonName
    let names = try warnings(TLSCredentials(certificateChain: unnamed, privateKey: unnamed))
    #expect(names.count == 1)
    #expect(names.first?.contains("names no host (subjectAltName)") == true)
    let client = try ofChannel {
      $0.security = .tls(
        ClientTLS(trustRoots: TestCertificates.authority, credentials: SpecialCertificates.expired)
      )
    }
    #expect(client.count == 1)
    #expect(client.first?.hasPrefix("ChannelOptions: the certificate has expired") == true)
  }

  @Test func aReloadOfAnExpiredCertificate() throws {
    let entries = LogEntries()
    let server = try server(entries) { $0.tls = ServerTLS(credentials: TestCertificates.server) }
    try server.reload(ServerTLS(credentials: SpecialCertificates.expired))
    #expect(entries.all.map(\.message).first?.hasPrefix("ServerTLS: the certificate has expired") == true)
  }

  @Test func aChainInTheWrongOrder() {
    guard case .bytes(let authority) = TestCertificates.authority,
      case .bytes(let leaf) = TestCertificates.serverCertificate
    else { return }
    let chain = TLSCredentials(
      certificateChain: .bytes(authority + Array("\n".utf8) + leaf),
      privateKey: TestCertificates.serverKey
    )
    let error = #expect(throws: GRPCStatus.self) {
      try server { $0.tls = ServerTLS(credentials: chain) }
    }
    #expect(error?.message?.contains("the certificate of this key is not the first of its chain") == true)
  }

  @Test func certificatesThatCannotBeReloaded() async throws {
    let server = try server { $0.tls = ServerTLS(credentials: TestCertificates.server) }
    let bytes = #expect(throws: GRPCStatus.self) { try server.reloadCertificates() }
    #expect(bytes?.code == .failedPrecondition)
    #expect(bytes?.message?.contains("were given as bytes: call reload(_:)") == true)
    await server.shutDown(grace: .zero)
    let ended = #expect(throws: GRPCStatus.self) {
      try server.reload(ServerTLS(credentials: TestCertificates.server))
    }
    #expect(ended?.code == .failedPrecondition)
    #expect(
      ended?.message == "the server was shut down: make another one, call bind(host:port:), and then run()"
    )
  }
}
