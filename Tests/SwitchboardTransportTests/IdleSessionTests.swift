import CertificateSupport
import HTTP2TestSupport
import ServerTestSupport
import SwitchboardCall
import TestSupport
import Testing

@testable import SwitchboardNetwork
@testable import SwitchboardTransport

/// Sessions that nobody uses are packed, which nobody notices.
@Suite(.mayBlock, .timeLimit(.minutes(5))) struct IdleSessionTests {
  private typealias Kind = FramePeer.Kind

  /// A server on a loop of its own, and a scripted client whose connection is open.
  private struct Idle {
    let pair: TestPair
    let loop: Loop
    let peer: FramePeer

    /// Returns once the server has read all that was sent. Without pings, of which it allows few.
    func settle() -> Bool {
      peer.send(Kind.settings, 0, 0, [])
      while let frame = peer.next(Kind.settings) { if frame.flags == 1 { return true } }
      return false
    }

    /// Lets time pass until no session of the server is in place.
    func untilPacked() async {
      #expect(settle())
      await Idle.untilPacked(pair.server, loop)
    }

    static func untilPacked(_ server: Server, _ loop: Loop) async {
      let core = server.core
      await IdleSessionTests.untilPacked(loop) { core.connections.allSatisfy(\.isPacked) }
    }

    /// The answer to a call on this stream.
    func call(_ stream: UInt32) -> [UInt8]? {
      peer.headers(stream, FramePeer.call("Get"))
      peer.data(stream, [0, 0, 0, 0, 2, 5, 6], ends: true)
      return peer.nextMessages(1).first?.bytes
    }
  }

  private static func untilPacked(_ loop: Loop, _ isPacked: @escaping @Sendable () -> Bool) async {
    while !Task.isCancelled, await !loop.onLoop(isPacked) { await loop.advance(by: Sweep.period) }
  }

  private static func with(
    _ options: ServerOptions = ServerOptions(),
    _ body: (Idle) async throws -> Void
  ) async throws {
    let group = try LoopGroup()
    try await TestPair.with(server: options, serverGroup: group) { pair async throws in
      let idle = Idle(pair: pair, loop: group.loops[0], peer: try FramePeer(pair.address))
      #expect(idle.peer.settle())
      await idle.untilPacked()
      try await body(idle)
    }
  }

  @Test func callsAreAnswered() async throws {
    try await Self.with { idle async throws in
      for stream in stride(from: UInt32(1), to: 21, by: 2) {
        #expect(idle.call(stream) == [5, 6])
        await idle.untilPacked()
      }
    }
  }

  @Test func pingsAndSettingsAreAnswered() async throws {
    try await Self.with { idle async throws in
      idle.peer.send(Kind.ping, 0, 0, [1, 2, 3, 4, 5, 6, 7, 8])
      #expect(idle.peer.next(Kind.ping)?.payload == [1, 2, 3, 4, 5, 6, 7, 8])
      await idle.untilPacked()
      // Also of tables that the session has from its start.
      idle.peer.send(Kind.settings, 0, 0, [0, 1] + FramePeer.number(0) + [0, 4] + FramePeer.number(1))
      #expect(idle.peer.next(Kind.settings)?.flags == 1)
      await idle.untilPacked()
      idle.peer.send(Kind.windowUpdate, 0, 0, FramePeer.number(1000))
      idle.peer.headers(1, FramePeer.call("Get"))
      idle.peer.data(1, [0, 0, 0, 0, 1, 9], ends: true)
      for byte in [0, 0, 0, 0, 1] as [UInt8] {
        #expect(idle.peer.next(Kind.data)?.payload == [byte])
        await idle.untilPacked()
        idle.peer.send(Kind.windowUpdate, 0, 1, FramePeer.number(1))
      }
      #expect(idle.peer.next(Kind.data)?.payload == [9])
      #expect(idle.peer.nextHeaders()?.ends == true)
    }
  }

  /// Nothing is lost of a frame, or of a header block, that has arrived in part.
  @Test func partialFramesAreKept() async throws {
    try await Self.with { idle async throws in
      let bytes =
        FramePeer.frame(Kind.headers, 4, 1, FramePeer.block(FramePeer.call("Get")))
        + FramePeer.frame(Kind.data, 1, 1, [0, 0, 0, 0, 2, 5, 6])
      let core = idle.pair.server.core
      for byte in bytes {
        await idle.loop.onLoop {
          for connection in core.connections {
            connection.http2?.pack()
            connection.feed([byte])
          }
        }
      }
      #expect(idle.peer.nextMessages(1).first?.bytes == [5, 6])
    }
  }

  @Test func aSilentStreamContinues() async throws {
    try await Self.with { idle async throws in
      idle.peer.headers(1, FramePeer.call("Update"))
      for value in 1...5 as ClosedRange<UInt8> {
        await idle.untilPacked()
        idle.peer.data(1, [0, 0, 0, 0, 1, value])
        #expect(idle.peer.nextMessages(1).first?.bytes == [value])
      }
      await idle.untilPacked()
      idle.peer.send(Kind.resetStream, 0, 1, FramePeer.number(8))
      await idle.untilPacked()
      #expect(idle.call(3) == [5, 6])
    }
  }

  @Test func aFloodIsDetected() async throws {
    try await Self.with { idle async throws in
      let frame = FramePeer.frame(Kind.priority, 0, 1, [0, 0, 0, 0, 9])
      idle.peer.raw.send(Array(repeatElement(frame, count: 3000).joined()))
      let goAway = idle.peer.next(Kind.goAway)
      #expect(goAway?.payload[4..<8].elementsEqual(FramePeer.number(11)) == true)
    }
  }

  @Test func protocolViolationsAreDetected() async throws {
    try await Self.with { idle async throws in
      idle.peer.data(7, [1])
      #expect(idle.peer.next(Kind.goAway)?.payload[4..<8].elementsEqual(FramePeer.number(1)) == true)
      #expect(idle.peer.raw.readToEnd())
    }
  }

  @Test func aPackedConnectionCanBeDrained() async throws {
    try await Self.with { idle async throws in
      let server = idle.pair.server
      let stopping = Task { await server.shutDown(grace: .seconds(60)) }
      #expect(idle.peer.next(Kind.goAway)?.payload.prefix(4).elementsEqual([127, 255, 255, 255]) == true)
      let ping = idle.peer.next(Kind.ping)
      await Self.untilPacked(idle.loop) { server.core.connections.allSatisfy(\.isPacked) }
      idle.peer.send(Kind.ping, 1, 0, ping?.payload ?? [])
      #expect(idle.peer.next(Kind.goAway)?.payload.prefix(4).elementsEqual([0, 0, 0, 0]) == true)
      #expect(idle.peer.raw.readToEnd())
      await stopping.value
    }
  }

  @Test func aPackedConnectionCanBeClosed() async throws {
    try await Self.with { idle async throws in
      let (server, loop) = (idle.pair.server, idle.loop)
      // Each in the arena of the one before.
      for _ in 0..<3 {
        let peer = try FramePeer(idle.pair.address)
        #expect(peer.settle())
        await Idle.untilPacked(server, loop)
      }
      await loop.until { server.core.connectionCount == 1 }
      #expect(idle.call(1) == [5, 6])
      await server.shutDown(grace: .zero)
      #expect(idle.peer.raw.readToEnd())
      #expect(await loop.onLoop { loop.sweep.count } == 0)
    }
  }

  @Test func aConnectionInUseIsNotPacked() async throws {
    try await Self.with { idle async throws in
      let core = idle.pair.server.core
      for _ in 0..<5 {
        #expect(idle.settle())
        await idle.loop.advance(by: Sweep.period)
        #expect(await idle.loop.onLoop { core.connections.allSatisfy { !$0.isPacked } })
      }
    }
  }

  /// Nothing has to be done for connections that nobody uses.
  @Test func packedSessionsAreNotVisited() async throws {
    try await Self.with { idle async throws in
      let loop = idle.loop
      #expect(await loop.onLoop { loop.sweep.count } == 0)
      await loop.advance(by: Sweep.period)
      #expect(await loop.onLoop { !loop.sweep.isWaiting })
      #expect(idle.settle())
      #expect(await loop.onLoop { loop.sweep.isWaiting && loop.sweep.count == 1 })
    }
  }

  /// They become idle at once, and are packed a few at a time.
  @Test func manyConnectionsArePacked() async throws {
    try await Self.with { idle async throws in
      let core = idle.pair.server.core
      var peers = try (0..<100).map { _ in try FramePeer(idle.pair.address) }
      for peer in peers { #expect(peer.settle()) }
      await idle.loop.until { core.connections.count == 101 }
      await idle.untilPacked()
      peers.removeFirst(30)
      for (index, peer) in peers.enumerated() where index % 2 == 0 { #expect(peer.settle()) }
      await idle.loop.until { core.connections.count == 71 }
      await idle.untilPacked()
      #expect(idle.call(1) == [5, 6])
    }
  }

  @Test(arguments: [Wire.ipv4, .tls]) func clientsAndServersPackIdleSessions(_ wire: Wire) async throws {
    let (serverGroup, group) = (try LoopGroup(), try LoopGroup())
    try await TestPair.with(wire, serverGroup: serverGroup) { pair async throws in
      var options = ChannelOptions()
      if wire == .tls { options.security = .tls(ClientTLS(trustRoots: TestCertificates.authority)) }
      let channel = try Channel(target: "\(pair.address)", options: options, group: group)
      let transport = try #require(channel.transport as? HTTP2ClientTransport)
      let caller = Caller(channel: channel)
      for size in [1, 1000, 100_000, 3] {
        let message = [UInt8](repeating: 4, count: size)
        #expect(try await caller.get(TestService.get, message) == message)
        await Idle.untilPacked(pair.server, serverGroup.loops[0])
        await Self.untilPacked(group.loops[0]) { transport.connections.allSatisfy(\.isPacked) }
        #expect(await group.loops[0].onLoop { transport.connections.count } == 1)
      }
      await channel.shutDown(grace: .seconds(5))
    }
  }

  /// Without a connection, which would have joined a sweep.
  @Test func aPackedSessionCanBeUsedAgain() throws {
    let blocks = BlockPool()
    for _ in 0..<200 {
      let session = try #require(Session(.server, settings: SessionSettings(), memory: blocks))
      let output = OutputBuffer()
      session.pack()
      #expect(session.isPacked)
      #expect(session.drain(into: output, limit: 1000) == .all)
      #expect(!session.isPacked && output.byteCount > 30)
      session.pack()
    }
  }
}

extension ConnectionParts {
  /// Whether all is packed that can be.
  fileprivate var isPacked: Bool { http2?.isPacked != false && tls?.isPacked != false }
}
