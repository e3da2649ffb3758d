import CallTestSupport
import Switchboard
import Testing

@testable import SwitchboardServices

/// Bundled services that are registered and cannot do what they are there for.
@Suite(.timeLimit(.minutes(5))) struct ServiceMistakeTests {
  private func options(_ messages: LogEntries) -> ServerOptions {
    var options = ServerOptions()
    options.logger = Logger(messages, minimumLevel: .warning)
    return options
  }

  // MARK: Channelz

  @Test func channelzWithoutAnythingToShow() async throws {
    let messages = LogEntries()
    do {
      let channel = try Channel(inProcess: [ChannelzService()], options: options(messages))
      let view = Grpc_Channelz_V1_ChannelzClient(channel: channel)
      #expect(messages.all.isEmpty)
      for _ in 0..<2 {
        #expect(try await view.getServers(Grpc_Channelz_V1_GetServersRequest()).server.isEmpty)
        _ = try await view.getTopChannels(Grpc_Channelz_V1_GetTopChannelsRequest())
      }
      await channel.shutDown(grace: .zero)
    }
    #expect(messages.all.count == 1)
    #expect(messages.all.first?.message.hasPrefix("channelz shows nothing: add(_:name:)") == true)
    // Nobody has asked.
    do { _ = try Server(providers: [ChannelzService()], options: options(messages)) }
    #expect(messages.all.count == 2)
  }

  @Test func channelzWithSomethingToShow() async throws {
    let messages = LogEntries()
    let channelz = ChannelzService()
    let server = try Server(providers: [channelz], options: options(messages))
    channelz.add(server)
    let channel = try Channel(inProcess: [channelz])
    let view = Grpc_Channelz_V1_ChannelzClient(channel: channel)
    #expect(try await view.getServers(Grpc_Channelz_V1_GetServersRequest()).server.count == 1)
    await channel.shutDown(grace: .zero)
    #expect(messages.all.isEmpty)
  }

  @Test func channelzThatNoServerHas() throws {
    let messages = LogEntries()
    let server = try Server(providers: [])
    do { ChannelzService(Logger(messages)).add(server) }
    #expect(messages.all.count == 1)
    #expect(
      messages.all.first?.message.contains("a ChannelzService that no server has: add it to the server's")
        == true
    )
    do { _ = ChannelzService(Logger(messages)) }
    #expect(messages.all.count == 1)
  }

  // MARK: Health

  @Test func serversThatShareTheirHealth() async throws {
    let messages = LogEntries()
    let health = HealthService()
    let first = try Server(providers: [health], options: options(messages))
    #expect(messages.all.isEmpty)
    let second = try Server(providers: [health], options: options(messages))
    #expect(messages.all.count == 1)
    #expect(
      messages.all.first?.message.hasPrefix("servers share a HealthService: once one of them shuts down")
        == true
    )
    // It is true.
    await first.shutDown(grace: .zero)
    #expect(health.status() == .notServing)
    await second.shutDown(grace: .zero)
  }

  /// A channel within the process never shuts its services down, and a server that was not made has none.
  @Test func healthOfOneServerIsSharedWithNone() async throws {
    let messages = LogEntries()
    let health = HealthService()
    let channel = try Channel(inProcess: [health], options: options(messages))
    var failing = options(messages)
    failing.tls = ServerTLS(
      credentials: TLSCredentials(certificateChain: .bytes([]), privateKey: .bytes([]))
    )
    #expect(throws: GRPCStatus.self) { try Server(providers: [health], options: failing) }
    let server = try Server(providers: [health], options: options(messages))
    await channel.shutDown(grace: .zero)
    #expect(health.status() == .serving)
    #expect(messages.all.isEmpty)
    await server.shutDown(grace: .zero)
  }

  /// The logger of a server that was not made is not told of its channelz either.
  @Test func channelzOfAServerThatFails() throws {
    let (messages, own) = (LogEntries(), LogEntries())
    do {
      let channelz = ChannelzService(Logger(own))
      var failing = options(messages)
      failing.tls = ServerTLS(
        credentials: TLSCredentials(certificateChain: .bytes([]), privateKey: .bytes([]))
      )
      #expect(throws: GRPCStatus.self) { try Server(providers: [channelz], options: failing) }
      let server = try Server(providers: [], options: options(LogEntries()))
      channelz.add(server)
    }
    #expect(messages.all.isEmpty)
    #expect(own.all.count == 1)
  }
}
