import SwitchboardCall
import Testing

@testable import SwitchboardHTTP2

/// The channels to which interceptors redirect calls end with the channel.
@Suite(.timeLimit(.minutes(5))) struct SiblingTests {
  @Test func aChannelThatWasShutDownRedirectsNothing() async throws {
    try await TestPair.with { pair async throws in
      let transport = try #require(pair.channel.transport as? HTTP2ClientTransport)
      let known = try transport.sibling(for: "localhost:\(pair.address.port)")
      #expect(try await Caller(channel: Channel(known)).get() == [1, 2, 3])
      await pair.channel.shutDown(grace: .zero)
      for host in [known.host, "other.example:1"] {
        let error = #expect(throws: GRPCStatus.self) { _ = try transport.sibling(for: host) }
        #expect(error == .channelShutDown)
      }
      #expect(await status { _ = try await Caller(channel: Channel(known)).get() } == .channelShutDown)
    }
  }

  /// It was asked for before the channel was shut down, and is ready after.
  @Test func aSiblingThatComesTooLateIsClosed() throws {
    let group = try LoopGroup()
    var siblings = ChannelSiblings()
    let channels = try ["a:1", "b:1"].map {
      try HTTP2ClientTransport(target: $0, options: ChannelOptions(), group: group)
    }
    #expect(siblings.add(channels[0]) == nil)
    #expect(siblings.close().map(\.host) == ["a:1"])
    #expect(siblings.add(channels[1]) === channels[1])
    #expect(siblings.close().isEmpty)
  }

  @Test func callsOfASiblingEndWithinTheGrace() async throws {
    try await TestPair.with { other async throws in
      try await TestPair.with { pair async throws in
        let transport = try #require(pair.channel.transport as? HTTP2ClientTransport)
        let sibling = try transport.sibling(for: "\(other.address)")
        let call = Task { try await Caller(channel: Channel(sibling)).get(TestService.hang, [1]) }
        await other.service.hanging.wait()
        await pair.channel.shutDown(grace: .zero)
        #expect(await status { _ = try await call.value } == .channelShutDown)
      }
    }
  }
}
