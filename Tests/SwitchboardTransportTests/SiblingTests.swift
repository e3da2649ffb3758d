import CallTestSupport
import ServerTestSupport
import SwitchboardCall
import Testing

@testable import SwitchboardNetwork
@testable import SwitchboardTransport

/// The channels to which interceptors redirect calls end with the channel.
@Suite(.timeLimit(.minutes(5))) struct SiblingTests {
  @Test func aChannelThatWasShutDownRedirectsNothing() async throws {
    try await TestPair.with { pair async throws in
      let transport = try #require(pair.channel.transport as? HTTP2ClientTransport)
      let known = try transport.sibling(for: "localhost:\(pair.address.port)")
      let caller = Caller(channel: Channel(known))
      #expect(try await caller.get() == [1, 2, 3])
      await pair.channel.shutDown(grace: .zero)
      for host in [known.host, "other.example:1"] {
        let error = #expect(throws: GRPCStatus.self) { _ = try transport.sibling(for: host) }
        #expect(error == .channelShutDown)
      }
      #expect(await status { _ = try await caller.get() } == .channelShutDown)
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

  // MARK: TLS

  /// A target on this machine would get plaintext otherwise.
  @Test func aSiblingOfAChannelWithTLSHasTLS() throws {
    let group = try LoopGroup()
    for security in [ChannelSecurity.automatic, .tls()] {
      var options = ChannelOptions()
      options.security = security
      let channel = try HTTP2ClientTransport(target: "shop.example:443", options: options, group: group)
      let sibling = try #require(try channel.sibling(for: "localhost:1") as? HTTP2ClientTransport)
      #expect(sibling.destination.tls != nil)
      let next = try #require(try sibling.sibling(for: "127.0.0.1:1") as? HTTP2ClientTransport)
      #expect(next.destination.tls != nil)
      channel.retire()
    }
  }

  @Test func callsAreRedirectedByTLS() async throws {
    try await TestPair.with(.tls) { pair async throws in
      let transport = try #require(pair.channel.transport as? HTTP2ClientTransport)
      let known = try transport.sibling(for: "localhost:\(pair.address.port)")
      #expect(try await Caller(channel: Channel(known)).get() == [1, 2, 3])
      // A server without TLS gets nothing that it could read.
      try await TestPair.with { other async throws in
        let unsafe = try transport.sibling(for: "\(other.address)")
        let failure = await status { _ = try await Caller(channel: Channel(unsafe)).get(TestService.hang) }
        #expect(failure?.message?.hasPrefix("TLS: the server does not speak TLS") == true)
      }
    }
  }

  /// The channels of a pool are chosen for each call.
  @Test func callsOfAPoolAreRedirectedByTLS() async throws {
    try await TestPair.with { other async throws in
      try await withPool(try ChannelPool()) { pool async throws in
        func redirected(from host: String, _ options: CallOptions = CallOptions()) async -> GRPCStatus? {
          let transport = PooledTransport(pool, host, options, loop: pool.loop(for: host))
          let channel = Channel(transport.sibling(for: "\(other.address)"))
          return await status { _ = try await Caller(channel: channel).get(options: options) }
        }
        let refused = await redirected(from: "shop.example:443")
        #expect(refused?.message?.hasPrefix("TLS: the server does not speak TLS") == true)
        #expect(await redirected(from: "localhost:1") == nil)
        #expect(await redirected(from: "shop.example:443", .with { $0.security = .plaintext }) == nil)
      }
    }
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
