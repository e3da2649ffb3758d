import ServerTestSupport
import Switchboard
import SwitchboardServiceMessages
import SwitchboardServices
import Testing

/// What is shown of a channel to several servers.
@Suite(.timeLimit(.minutes(5))) struct ChannelzSubchannelTests {
  @Test func eachServerHasItsSubchannel() async throws {
    let channelz = ChannelzService()
    var servers: [Server] = []
    var endpoints: [Endpoint] = []
    for _ in 0..<2 {
      let server = try Server(providers: [channelz, HealthService()])
      let address = try server.bind(host: "127.0.0.1", port: 0)
      servers.append(server)
      endpoints.append(Endpoint([.ipv4(0x7F00_0001, port: UInt16(clamping: address.port))]))
    }
    var options = ChannelOptions()
    options.security = .plaintext
    options.resolvers = [StaticResolver(endpoints)]
    options.serviceConfig = try ServiceConfig(json: #"{"loadBalancingConfig": [{"round_robin": {}}]}"#)
    try await withChannel(to: "static:///shop.example", options: options) { channel async throws in
      channelz.add(channel, name: "shop")
      let view = Grpc_Channelz_V1_ChannelzClient(channel: channel)

      var subchannels: [Grpc_Channelz_V1_Subchannel] = []
      // Until both are connected and were called.
      while subchannels.count(where: { $0.data.callsStarted >= 2 && !$0.socketRef.isEmpty }) < 2 {
        let shown = try await view.getTopChannels(.with { $0.startChannelID = 0 })
        subchannels = []
        for reference in try #require(shown.channel.first).subchannelRef {
          let answer = try await view.getSubchannel(.with { $0.subchannelID = reference.subchannelID })
          subchannels.append(answer.subchannel)
        }
      }
      let names = endpoints.map { "shop.example (\($0.addresses[0]))" }
      #expect(subchannels.map(\.data.target) == names)
      #expect(subchannels.map(\.ref.name) == names)
      #expect(subchannels.allSatisfy { $0.data.state.state == .ready })
      let sockets = subchannels.flatMap(\.socketRef)
      #expect(Set(sockets.map(\.socketID)).count == 2)
      for reference in sockets {
        let socket = try await view.getSocket(.with { $0.socketID = reference.socketID }).socket
        #expect(socket.ref.socketID == reference.socketID)
      }
    }
    for server in servers { await server.shutDown(grace: .zero) }
  }
}
