import CallTestSupport
import EchoService
import ServerTestSupport
import Testing

@testable import Switchboard
@testable import SwitchboardCall
@testable import SwitchboardNetwork
@testable import SwitchboardTransport

/// Options of a channel in calls whose client was given a channel: such a call would be made without what it asks for.
@Suite(.timeLimit(.minutes(5))) struct GivenChannelTests {
  private static let changes: [(String, @Sendable (inout CallOptions) -> Void)] = [
    ("security", { $0.security = .tls() }), ("security", { $0.security = .automatic }),
    ("pemRootCert", { $0.pemRootCert = "root" }), ("hostNameOverride", { $0.hostNameOverride = "name" }),
    ("proxy", { $0.proxy = .none }), ("userAgentPrefix", { $0.userAgentPrefix = "app" }),
    ("keepaliveInterval", { $0.keepaliveInterval = .seconds(100) }),
    ("wireProtocol", { $0.wireProtocol = .connect }), ("channelID", { $0.channelID = 1 }),
    ("additionalChannelArgs", { $0.additionalChannelArgs = ["grpc.enable_retries": false] }),
  ]

  private func expectRefusal(_ failure: GRPCStatus?, of name: String) {
    #expect(failure?.code == .invalidArgument, "\(name): \(failure.map { "\($0)" } ?? "it succeeded")")
    #expect(failure?.message?.hasPrefix("CallOptions.\(name): a call cannot change the channel") == true)
  }

  @Test func optionsOfAChannelFailTheirCalls() async throws {
    try await EchoPair.with { pair async throws in
      let client = pair.client()
      for (name, change) in Self.changes {
        let options = CallOptions.with(change)
        expectRefusal(
          await status { _ = try await client.get(Echo_EchoRequest("x"), callOptions: options) },
          of: name
        )
        let responses = client.update([Echo_EchoRequest("x")], callOptions: options)
        expectRefusal(await status { _ = try await responses.collected() }, of: name)
      }
      #expect(try await client.get(Echo_EchoRequest("x")).text == "Swift echo get: x")
    }
  }

  @Test(arguments: [false, true]) func optionsOfAClientFailItsCalls(isIntercepted: Bool) async throws {
    try await EchoPair.with { pair async throws in
      var client = isIntercepted ? pair.client { [ClientHook()] } : pair.client()
      client.defaultCallOptions.security = .tls()
      expectRefusal(await status { _ = try await client.get(Echo_EchoRequest("x")) }, of: "security")
      let stock = MethodClient(channel: pair.channel, defaultCallOptions: .with { $0.security = .plaintext })
      let call = stock.call(MethodDescriptor(service: "s", method: "m", type: .unary).bytes)
      expectRefusal(await status { _ = try await call.unary([]) }, of: "security")
    }
  }

  @Test func severalOptionsAreNamed() async throws {
    try await EchoPair.with { pair async throws in
      let options = CallOptions.with {
        $0.security = .tls()
        $0.channelPoolDomain = "d"
      }
      let failure = await status {
        _ = try await pair.client().get(Echo_EchoRequest("x"), callOptions: options)
      }
      #expect(failure?.message?.hasPrefix("CallOptions.security, CallOptions.channelPoolDomain: ") == true)
    }
  }

  @Test func optionsOfCallsAreTaken() async throws {
    try await EchoPair.with { pair async throws in
      let options = try CallOptions.with {
        $0.timeout = .seconds(300)
        $0.waitForReady = true
        $0.serverAuthority = "elsewhere"
        $0.compression = .gzip
        $0.responseSizeLimit = 1000
        $0.enableRetry = false
        $0.serviceConfig = try ServiceConfig()
        $0.retryBufferSize = 10
        $0.logContext = ["a": "b"]
        // Chosen, and taken back.
        $0.keepaliveInterval = .seconds(100)
        $0.keepaliveInterval = nil
      }
      #expect(
        try await pair.client().get(Echo_EchoRequest("x"), callOptions: options).text == "Swift echo get: x"
      )
    }
  }

  /// There is nothing to secure, and the client of a program may be tested with its own options.
  @Test func aChannelWithinTheProcessTakesThem() async throws {
    let client = Echo_EchoClient(channel: try Channel(inProcess: [TutorialProvider()]))
    for (_, change) in Self.changes {
      let response = try await client.get(Echo_EchoRequest("x"), callOptions: .with(change))
      #expect(response.text == "Swift echo get: x")
    }
  }

  /// Each option is named as it is written.
  @Test func everyOptionHasItsName() {
    let all = CallOptions.with {
      $0.maxMetadataSize = 1000
      $0.httpVersion = .http1
      $0.authority = "a"
      $0.idleTimeout = .seconds(1)
    }
    #expect(all.channelOptions.names() == ["maxMetadataSize", "httpVersion", "authority", "idleTimeout"])
  }

  // MARK: Arguments that only a client's options can have

  @Test(arguments: ["grpc.service_config", "grpc.enable_retries", "grpc.per_rpc_retry_buffer_size"])
  func anArgumentForClientsFailsACall(_ name: String) async throws {
    try await withServer([TutorialProvider()]) { _, address async throws in
      try await withPool(try ChannelPool()) { pool async throws in
        let value: ChannelArgument = name == "grpc.service_config" ? "{}" : 1
        let options = CallOptions.with { $0.additionalChannelArgs = [name: value] }
        let own = Echo_EchoClient(host: "\(address)", options: options, pool: pool)
        #expect(try await own.get(Echo_EchoRequest("x")).text == "Swift echo get: x")
        let other = Echo_EchoClient(host: "\(address)", pool: pool)
        let failure = await status { _ = try await other.get(Echo_EchoRequest("x"), callOptions: options) }
        #expect(failure?.code == .invalidArgument)
        #expect(failure?.message?.hasPrefix("additionalChannelArgs: \(name) has an effect only in") == true)
      }
    }
  }

  // MARK: Service configs

  private func lines(_ log: LogEntries) -> [String] {
    log.all(from: .warning).map { "\($0.metadata["target"] ?? "?") \($0.message)" }
  }

  private func config(_ misspelled: String) throws -> CallOptions {
    try .with { $0.serviceConfig = try ServiceConfig(json: #"{"methodConfig": [], "\#(misspelled)": 1}"#) }
  }

  @Test(arguments: [false, true]) func misspeltConfigsOfCallsAreLoggedOnce(inProcess: Bool) async throws {
    let warnings = LogEntries()
    var options = ChannelOptions()
    options.logger = Logger(warnings)
    try await withServer([TutorialProvider()]) { _, address async throws in
      let target = "\(address)"
      let channel =
        inProcess
        ? try Channel(inProcess: [TutorialProvider()], channelOptions: options)
        : try Channel(target: target, options: options)
      var client = Echo_EchoClient(channel: channel, defaultCallOptions: try config("retryThrotling"))
      for _ in 0..<3 { _ = try await client.get(Echo_EchoRequest("x")) }
      _ = try await client.get(Echo_EchoRequest("x"), callOptions: try config("retryTrottling"))
      let place = inProcess ? "inprocess" : target
      let logged = lines(warnings)
      #expect(logged.count == 2)
      #expect(
        logged.first?.hasPrefix("\(place) a service config of CallOptions.serviceConfig: retryThrotling")
          == true
      )
      #expect(logged.last?.contains("retryTrottling") == true)
      // A config for each call fills no log.
      for number in 0..<100 {
        client.defaultCallOptions = try config("x\(number)")
        _ = try await client.get(Echo_EchoRequest("x"))
      }
      #expect(lines(warnings).count == 16)
      await channel.shutDown(grace: .zero)
    }
  }

  /// A call does not change the channel that its client was given, and a client that names a host has a channel of its own.
  @Test func membersAboutTheChannelAreLoggedOnce() async throws {
    let warnings = LogEntries()
    var options = ChannelOptions()
    options.logger = Logger(warnings)
    try await withServer([TutorialProvider()]) { _, address async throws in
      let target = "\(address)"
      try await withChannel(to: target, options: options) { channel async throws in
        let json =
          #"{"loadBalancingConfig": [{"round_robin": {}}], "healthCheckConfig": {"serviceName": ""}}"#
        let config = try CallOptions.with { $0.serviceConfig = try ServiceConfig(json: json) }
        let client = Echo_EchoClient(channel: channel, defaultCallOptions: config)
        for _ in 0..<3 { _ = try await client.get(Echo_EchoRequest("x")) }
        #expect(
          lines(warnings)
            == ["loadBalancingConfig", "healthCheckConfig"].map {
              "\(target) a service config of CallOptions.serviceConfig: \($0): has no effect in a call, because it is about "
                + "the channel. Set it in ChannelOptions.serviceConfig, or make the client with host: instead of channel:"
            }
        )
      }
    }
  }
}
