import CallTestSupport
import CertificateSupport
import ConsoleMessages
import EchoService
import EchoTestSupport
import ServerTestSupport
import Switchboard
import SwitchboardBalancing
import SwitchboardCall
import SwitchboardConsole
import SwitchboardProtobuf
import SwitchboardTelemetry
import TestSupport
import Testing

/// What is configured, with real servers and channels.
@Suite(.mayBlock, .timeLimit(.minutes(5))) struct ConfigurationViewTests {
  private struct Echo: EchoingProvider {}

  private func withConsole(
    _ telemetry: Telemetry? = nil,
    _ body: (Console, (_ query: String) throws -> Switchboard_Console_V1_ConfigurationView) async throws ->
      Void
  ) async throws {
    var options = ConsoleOptions()
    options.access = .token("a-token-of-the-test")
    options.logger = .quiet
    let console = try Console(telemetry: telemetry, options: options)
    let address = try console.serve(port: 0)
    func view(_ query: String) throws -> Switchboard_Console_V1_ConfigurationView {
      let request = PageRequest("/configuration?\(query)", ["authorization": "Bearer a-token-of-the-test"])
      let answer = try request.answer(at: address)
      let json = answer.split(separator: "\r\n\r\n", maxSplits: 1).last.map(String.init) ?? ""
      return try Switchboard_Console_V1_ConfigurationView(jsonString: json)
    }
    try await withEnd({ await console.shutDown() }, { try await body(console, view) })
  }

  private func option(_ name: String, _ view: Switchboard_Console_V1_ConfigurationView)
    -> Switchboard_Console_V1_Option?
  {
    view.selected.options.first { $0.name == name }
  }

  @Test func theProcessSaysWhatItIsMadeOf() async throws {
    try await withConsole { _, view async throws in
      let view = try view("selected=process")
      #expect(view.subjects.map(\.id) == ["process"])
      #expect(option("Switchboard", view)?.value == "0.1.0")
      #expect(option("OpenSSL", view)?.value.hasPrefix("OpenSSL 3") == true)
      for name in ["Swift", "nghttp2", "libuv"] { #expect(option(name, view)?.value.contains(".") == true) }
    }
  }

  @Test func optionsOfServersAndChannels() async throws {
    let telemetry = try Telemetry(TelemetryOptions(serviceName: "shop"))
    var options = ServerOptions()
    options.maxRequestSize = 64 * 1024
    options.observer = telemetry.observer()
    var channelOptions = ChannelOptions()
    channelOptions.keepaliveInterval = .seconds(600)
    try await withPair([Echo()], options: options, channel: channelOptions) { pair async throws in
      try await withConsole(telemetry) { console, view async throws in
        console.add(pair.server, name: "front")
        console.add(pair.channel, name: "back")
        let all = try view("")
        #expect(all.subjects.map(\.kind) == [.process, .telemetry, .server, .channel])
        #expect(all.subjects.map(\.name).suffix(2) == ["front", "back (\(pair.address))"])
        #expect(all.subjects.last?.changed == 1 && !all.hasSelected)
        #expect(try view("filter=FRONT").subjects.map(\.id) == ["server-1"])
        let server = try view("selected=server-1")
        #expect(option("maxRequestSize", server)?.value == "64 KiB")
        #expect(option("maxRequestSize", server)?.standard == "4 MiB")
        #expect(option("maxRequestSize", server)?.source == "code")
        #expect(option("maxConnections", server)?.isChanged == false)
        #expect(!server.selected.hasTls && !server.selected.hasServiceConfig)
        let channel = try view("selected=channel-2")
        #expect(option("keepaliveInterval", channel)?.value == "10 min")
        #expect(channel.selected.serviceConfig.policy == "pick_first")
        #expect(channel.selected.serviceConfig.json.isEmpty)
        #expect(try view("selected=channel-7").hasSelected == false)
      }
    }
    await telemetry.shutDown()
  }

  @Test func certificatesSayHowLongTheyAreValid() async throws {
    try await withPair([Echo()], over: .tls) { pair async throws in
      try await withConsole { console, view async throws in
        console.add(pair.server)
        console.add(pair.channel)
        let server = try view("selected=server-1").selected
        #expect(server.tls.certificate.names.contains("localhost"))
        #expect(server.tls.certificate.validity.daysLeft > 14)
        #expect(server.tls.trustedSource == "none" && server.tls.trustedCount == 0)
        let channel = try view("selected=channel-2").selected
        #expect(!channel.tls.hasCertificate && channel.tls.trustedCount == 1)
        #expect(channel.tls.trustedSource == "given as bytes" && channel.tls.serverName == "127.0.0.1")
        let before = server.tls.read
        var renewed = ServerTLS(credentials: TestCertificates.renewed)
        renewed.minimumVersion = .tls13
        try pair.server.reload(renewed)
        let after = try view("selected=server-1&count=10")
        #expect(after.selected.tls.certificate.serial != server.tls.certificate.serial)
        #expect((after.selected.tls.read - before).seconds >= 0)
        #expect(option("tls", after)?.value.contains("TLS 1.3") == true)
      }
    }
  }

  @Test func anExpiredCertificateHasLessThanNoDaysLeft() async throws {
    var options = ServerOptions()
    options.logger = .quiet
    options.tls = ServerTLS(
      credentials: TLSCredentials(
        certificateChain: SpecialCertificates.expiredCertificate,
        privateKey: SpecialCertificates.expiredKey
      )
    )
    try await withServer([Echo()], options: options) { server, _ async throws in
      try await withConsole { console, view async throws in
        console.add(server)
        #expect(try view("").subjects.last?.certificate.daysLeft ?? 0 < -2000)
      }
    }
  }

  /// Reports one service config after the other.
  private struct ScriptedResolver: Resolver {
    let configs: [Result<ServiceConfig?, GRPCStatus>]
    let endpoint: Endpoint

    var schemes: [String] { ["scripted"] }
    var findsServiceConfigs: Bool { true }
    func serverName(of target: Target) throws(GRPCStatus) -> String { "localhost" }
    func start(_ target: Target, _ updates: ResolverUpdates) -> any Resolution {
      for config in configs { updates.report(ResolverResult(endpoints: [endpoint], serviceConfig: config)) }
      return FinishedResolution()
    }
  }

  @Test func theLastGoodServiceConfigAndTheRefusedOne() async throws {
    try await withServer([Echo()]) { server, address async throws in
      let good = try ServiceConfig(json: #"{"loadBalancingConfig": [{"round_robin": {}}]}"#)
      let refusal = GRPCStatus(code: .invalidArgument, message: "the text has no end")
      var options = ChannelOptions()
      options.logger = .quiet
      options.security = .plaintext
      let endpoint = Endpoint([try #require(EndpointAddress(ip: "127.0.0.1", port: UInt16(address.port)))])
      options.resolvers = [
        ScriptedResolver(configs: [.success(good), .failure(refusal)], endpoint: endpoint)
      ]
      try await withChannel(to: "scripted:x", options: options) { channel async throws in
        _ = try await Echo_EchoClient(channel: channel).get(.with { $0.text = "x" })
        try await withConsole { console, view async throws in
          console.add(channel)
          let view = try view("selected=channel-1")
          let config = view.selected.serviceConfig
          #expect(config.source == "the resolver" && config.policy == "round_robin" && !config.isCut)
          #expect(try ServiceConfig(json: config.json) == good)
          #expect(config.refused.reason == "the text has no end")
          #expect(config.refused.time.seconds > 0)
          #expect(view.subjects.last?.isConfigRefused == true)
        }
      }
    }
  }

  @Test func hostileNamesAreShownAsTheyAre() async throws {
    try await withServer([Echo()]) { server, _ async throws in
      try await withConsole { console, view async throws in
        let name = #"<img src=x onerror=alert(1)> " ' & \#u{202e}"#
        console.add(server, name: name)
        #expect(try view("").subjects.last?.name == name)
      }
    }
  }
}
