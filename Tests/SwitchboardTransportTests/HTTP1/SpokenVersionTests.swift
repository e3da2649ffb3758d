import HTTP2TestSupport
import ServerTestSupport
import SwitchboardCall
import TLSSupport
import TestSupport
import Testing

@testable import SwitchboardNetwork
@testable import SwitchboardTransport

/// A connection has a session of the version that is spoken, once that is known, and none of the other.
@Suite(.mayBlock, .timeLimit(.minutes(5))) struct SpokenVersionTests {
  @Test func theFirstBytesShowIt() {
    for text in ["", "P", "PR"] { #expect(SpokenVersion(firstBytes: Array(text.utf8)) == nil) }
    for text in ["PRI", "PRI * HTTP/2.0\r\n\r\n", "PRIVATE"] {
      #expect(SpokenVersion(firstBytes: Array(text.utf8)) == .http2)
    }
    for text in ["G", "PO", "POST /", "\r\n", "pri"] {
      #expect(SpokenVersion(firstBytes: Array(text.utf8)) == .http1)
    }
  }

  private struct Ends {
    let pair: TestPair
    let transport: HTTP2ClientTransport
    let serverLoop: Loop

    func get() async throws {
      let caller = Caller(channel: pair.channel)
      for size in [1, 70_000] {
        let message = [UInt8](repeating: 5, count: size)
        #expect(try await caller.get(TestService.get, message) == message)
      }
    }

    /// Whether there is a connection on both sides, and all are as described.
    func all(
      _ fits: @escaping @Sendable (ServerConnection) -> Bool,
      _ fitsToo: @escaping @Sendable (ClientConnection) -> Bool
    )
      async -> Bool
    {
      let (core, transport) = (pair.server.core, transport)
      let isServer = await serverLoop.onLoop { core.connectionCount > 0 && core.connections.allSatisfy(fits) }
      let isClient = await transport.loop.onLoop {
        !transport.connections.isEmpty && transport.connections.allSatisfy(fitsToo)
      }
      return isServer && isClient
    }

    /// Frees what the connections need only while they are used.
    func pack() async {
      let (core, transport) = (pair.server.core, transport)
      await serverLoop.onLoop { for connection in core.connections { connection.withSession { $0.pack() } } }
      await transport.loop.onLoop {
        for connection in transport.connections { connection.withSession { $0.pack() } }
      }
    }
  }

  private static func with(
    _ wire: Wire,
    _ version: HTTPVersion,
    _ body: (Ends) async throws -> Void
  ) async throws {
    let group = try LoopGroup()
    var options = ChannelOptions()
    options.wireProtocol = .connect
    options.httpVersion = version
    try await TestPair.with(wire, server: HTTP1Tests.options, channel: options, serverGroup: group) {
      pair async throws in
      let transport = try #require(pair.channel.transport as? HTTP2ClientTransport)
      try await body(Ends(pair: pair, transport: transport, serverLoop: group.loops[0]))
    }
  }

  @Test(arguments: [Wire.ipv4, .tls]) func aConnectionOfHTTP1HasNoSessionOfHTTP2(_ wire: Wire) async throws {
    try await Self.with(wire, .http1) { ends async throws in
      try await ends.get()
      #expect(
        await ends.all {
          $0.http2 == nil && $0.http1 != nil
        } _: {
          $0.http2 == nil && $0.http1 != nil
        }
      )
    }
  }

  @Test(arguments: [Wire.ipv4, .tls]) func aConnectionOfHTTP2HasNoSessionOfHTTP1(_ wire: Wire) async throws {
    try await Self.with(wire, .negotiated) { ends async throws in
      try await ends.get()
      #expect(
        await ends.all {
          $0.http2 != nil && $0.http1 == nil
        } _: {
          $0.http2 != nil && $0.http1 == nil
        }
      )
    }
  }

  @Test(arguments: [HTTPVersion.http1, .negotiated]) func anUnusedConnectionServesAgain(
    _ version: HTTPVersion
  )
    async throws
  {
    try await Self.with(.ipv4, version) { ends async throws in
      for _ in 0..<3 {
        try await ends.get()
        await ends.pack()
      }
      #expect(
        await ends.all {
          $0.counters.streamsStarted == 6
        } _: {
          $0.counters.streamsStarted == 6
        }
      )
    }
  }

  @Test func nothingIsMadeBeforeTheVersionIsKnown() async throws {
    let group = try LoopGroup()
    let loop = group.loops[0]
    try await TestPair.with(server: HTTP1Tests.options, serverGroup: group) { pair async throws in
      let (core, peer) = (pair.server.core, try RawPeer(pair.address))
      peer.send(Array("PR".utf8))
      await loop.until { core.connections.first?.greeting.count == 2 }
      #expect(await loop.onLoop { core.connections.allSatisfy { !$0.isDecided } })
      peer.send(Array("I * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8))
      await loop.until { core.connections.first?.http2 != nil }
      #expect(peer.read(9).dropFirst(3).first == FramePeer.Kind.settings)
    }
  }

  /// A client that still shakes hands learns that the server accepts no calls of it.
  @Test func aHandshakeGoesOnWhileTheServerStops() async throws {
    let group = try LoopGroup()
    try await TestPair.with(.tls, serverGroup: group) { pair async throws in
      let core = pair.server.core
      let peer = SecurePeer(try RawPeer(pair.address), try TLSPeer(.client, version: .tls13))
      await group.loops[0].until { core.connectionCount == 1 }
      core.beginDraining()
      try peer.shakeHands()
      let last = FramePeer.number(0x7fff_ffff) + FramePeer.number(0)
      let announcement = FramePeer.frame(FramePeer.Kind.goAway, 0, 0, last)
      #expect(peer.listen { $0.contains(announcement) }.contains(announcement))
    }
  }

  /// ALPN has decided which version it is before the client speaks.
  @Test func aClientThatHasNegotiatedHTTP2LearnsThatTheServerStops() async throws {
    let group = try LoopGroup()
    try await TestPair.with(.tls, server: HTTP1Tests.options, serverGroup: group) { pair async throws in
      let core = pair.server.core
      let peer = try SecurePeer(pair.address)
      await group.loops[0].until { core.connections.first?.tls?.isSecure == true }
      core.beginDraining()
      let last = FramePeer.number(0x7fff_ffff) + FramePeer.number(0)
      let announcement = FramePeer.frame(FramePeer.Kind.goAway, 0, 0, last)
      #expect(peer.listen { $0.contains(announcement) }.contains(announcement))
    }
  }

  @Test(arguments: [(["http/1.1"], true), ([], false)])
  func whatIsNotNegotiatedIsShownByTheFirstBytes(_ protocols: [String], _ isDecided: Bool) async throws {
    let group = try LoopGroup()
    try await TestPair.with(.tls, server: HTTP1Tests.options, serverGroup: group) { pair async throws in
      let core = pair.server.core
      let tls = try TLSPeer(.client, protocols: protocols)
      let peer = SecurePeer(try RawPeer(pair.address), tls)
      try peer.shakeHands()
      await group.loops[0].until { core.connections.first?.tls?.isSecure == true }
      #expect(await group.loops[0].onLoop { core.connections.first?.http1 != nil } == isDecided)
      peer.say(Array("GET / HTTP/1.1\r\nhost: a\r\n\r\n".utf8))
      #expect(peer.listen { $0.count > 12 }.starts(with: "HTTP/1.1 ".utf8))
    }
  }

  /// The server does not wait for it to speak.
  @Test func aConnectionThatSpeaksNothingIsClosedWhenTheServerStops() async throws {
    let group = try LoopGroup()
    try await TestPair.with(server: HTTP1Tests.options, serverGroup: group) { pair async throws in
      let (core, peer) = (pair.server.core, try RawPeer(pair.address))
      await group.loops[0].until { core.connectionCount == 1 }
      core.beginDraining()
      #expect(peer.readToEnd())
    }
  }
}
