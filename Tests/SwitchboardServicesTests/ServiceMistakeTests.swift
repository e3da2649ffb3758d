import Switchboard
import Testing

@testable import SwitchboardServices

/// Bundled services that are registered and cannot do what they are there for.
@Suite(.timeLimit(.minutes(5))) struct ServiceMistakeTests {
  private final class Messages: LogHandler {
    private let state = Locked<[String]>([])
    var all: [String] { state.withLock { $0 } }

    func log(_ level: LogLevel, _ message: String, _ metadata: [String: String]) {
      if level == .warning { state.withLock { $0.append(message) } }
    }
  }

  private func options(_ messages: Messages) -> ServerOptions {
    var options = ServerOptions()
    options.logger = Logger(messages)
    return options
  }

  // MARK: Channelz

  @Test func channelzWithoutAnythingToShow() async throws {
    let messages = Messages()
    do {
      let channel = try Channel(inProcess: [ChannelzService()], options: options(messages))
      let view = Grpc_Channelz_V1_ChannelzClient(channel: channel)
      #expect(messages.all == [])
      for _ in 0..<2 {
        #expect(try await view.getServers(Grpc_Channelz_V1_GetServersRequest()).server.isEmpty)
        _ = try await view.getTopChannels(Grpc_Channelz_V1_GetTopChannelsRequest())
      }
      await channel.shutDown(grace: .zero)
    }
    #expect(messages.all.count == 1)
    #expect(messages.all.first?.hasPrefix("channelz shows nothing: add(_:name:)") == true)
    // Nobody has asked.
    do { _ = try Server(providers: [ChannelzService()], options: options(messages)) }
    #expect(messages.all.count == 2)
  }

  @Test func channelzWithSomethingToShow() async throws {
    let messages = Messages()
    let channelz = ChannelzService()
    let server = try Server(providers: [channelz], options: options(messages))
    channelz.add(server)
    let channel = try Channel(inProcess: [channelz])
    let view = Grpc_Channelz_V1_ChannelzClient(channel: channel)
    #expect(try await view.getServers(Grpc_Channelz_V1_GetServersRequest()).server.count == 1)
    await channel.shutDown(grace: .zero)
    #expect(messages.all == [])
  }

  @Test func channelzThatNoServerHas() throws {
    let messages = Messages()
    let server = try Server(providers: [])
    do { ChannelzService(Logger(messages)).add(server) }
    #expect(messages.all.count == 1)
    #expect(
      messages.all.first?.contains("a ChannelzService that no server has: add it to the server's") == true
    )
    do { _ = ChannelzService(Logger(messages)) }
    #expect(messages.all.count == 1)
  }

  // MARK: Health

  @Test func serversThatShareTheirHealth() async throws {
    let messages = Messages()
    let health = HealthService()
    let first = try Server(providers: [health], options: options(messages))
    #expect(messages.all == [])
    let second = try Server(providers: [health], options: options(messages))
    #expect(messages.all.count == 1)
    #expect(
      messages.all.first?.hasPrefix("servers share a HealthService: once one of them shuts down") == true
    )
    // It is true.
    await first.shutDown(grace: .zero)
    #expect(health.status() == .notServing)
    await second.shutDown(grace: .zero)
  }

  /// A channel within the process never shuts its services down, and a server that was not made has none.
  @Test func healthOfOneServerIsSharedWithNone() async throws {
    let messages = Messages()
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
    #expect(messages.all == [])
    await server.shutDown(grace: .zero)
  }

  /// The logger of a server that was not made is not told of its channelz either.
  @Test func channelzOfAServerThatFails() throws {
    let (messages, own) = (Messages(), Messages())
    do {
      let channelz = ChannelzService(Logger(own))
      var failing = options(messages)
      failing.tls = ServerTLS(
        credentials: TLSCredentials(certificateChain: .bytes([]), privateKey: .bytes([]))
      )
      #expect(throws: GRPCStatus.self) { try Server(providers: [channelz], options: failing) }
      let server = try Server(providers: [], options: options(Messages()))
      channelz.add(server)
    }
    #expect(messages.all == [])
    #expect(own.all.count == 1)
  }
}
