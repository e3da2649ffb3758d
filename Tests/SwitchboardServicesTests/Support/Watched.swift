import CallTestSupport
import EchoService
import ServerTestSupport
import Switchboard
import SwitchboardServices

/// A server and a channel to it; a `ChannelzService` on a second server describes them, so that queries do not affect
/// the counts.
struct Watched {
  let channelz: ChannelzService
  let server: Server
  let address: SocketAddress
  let channel: Channel
  let view: Grpc_Channelz_V1_ChannelzClient

  var echo: Echo_EchoClient { Echo_EchoClient(channel: channel) }

  static let serverID: Int64 = 1
  static let channelID: Int64 = 2

  static func with(
    server serverOptions: ServerOptions = ServerOptions(),
    channel channelOptions: ChannelOptions = ChannelOptions(),
    group: LoopGroup? = nil,
    wire: Wire = .ipv4,
    _ body: (Watched) async throws -> Void
  ) async throws {
    try await withPair(
      [TalkingEcho()],
      over: wire,
      options: serverOptions,
      channel: channelOptions,
      group: group
    ) { pair async throws in
      let channelz = ChannelzService()
      channelz.add(pair.server, name: "echo")
      channelz.add(pair.channel, name: "to echo")
      try await withChannel(to: [channelz]) { outlook async throws in
        try await body(
          Watched(
            channelz: channelz,
            server: pair.server,
            address: pair.address,
            channel: pair.channel,
            view: Grpc_Channelz_V1_ChannelzClient(channel: outlook)
          )
        )
      }
    }
  }

  func get(_ text: String) async -> GRPCStatus? {
    await status { _ = try await echo.get(.with { $0.text = text }) }
  }

  // MARK: - Answers

  func serverData() async throws -> Grpc_Channelz_V1_ServerData {
    try await view.getServer(.with { $0.serverID = Self.serverID }).server.data
  }

  func channelData() async throws -> Grpc_Channelz_V1_ChannelData {
    try await view.getChannel(.with { $0.channelID = Self.channelID }).channel.data
  }

  /// The server's connections.
  func serverSockets() async throws -> [Grpc_Channelz_V1_SocketRef] {
    try await view.getServerSockets(.with { $0.serverID = Self.serverID }).socketRef
  }

  /// The channel's.
  func channelSockets() async throws -> [Grpc_Channelz_V1_SocketRef] {
    let known = try await view.getChannel(.with { $0.channelID = Self.channelID }).channel
    guard let reference = known.subchannelRef.first else { return [] }
    return try await view.getSubchannel(.with { $0.subchannelID = reference.subchannelID }).subchannel
      .socketRef
  }

  func socket(_ reference: Grpc_Channelz_V1_SocketRef?) async throws -> Grpc_Channelz_V1_Socket {
    try await view.getSocket(.with { $0.socketID = reference?.socketID ?? 0 }).socket
  }

  /// Returns once a condition that the other end of a connection brings about holds, or when the test is cancelled.
  func until(_ condition: () async throws -> Bool) async throws {
    while !Task.isCancelled, try await !condition() { await Task.yield() }
  }
}
