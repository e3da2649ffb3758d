import ServerTestSupport
import Switchboard
import SwitchboardServiceMessages
import SwitchboardServices
import Testing

/// What is shown of a channel to several servers.
@Suite(.timeLimit(.minutes(5))) struct ChannelzSubchannelTests {
  @Test func eachServerHasItsSubchannel() async throws {
    let channelz = ChannelzService()
    try await withServers((0..<2).map { _ in [channelz, HealthService()] }) { _, addresses async throws in
      let endpoints = addresses.map { Endpoint([.ipv4(0x7F00_0001, port: UInt16(clamping: $0.port))]) }
      try await subchannels(of: endpoints, in: channelz)
    }
  }

  private func subchannels(of endpoints: [Endpoint], in channelz: ChannelzService) async throws {
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
  }
}
