import HTTP2TestSupport
import ServerTestSupport
import SwitchboardCall
import TestSupport
import Testing

@testable import SwitchboardNetwork
@testable import SwitchboardTransport

/// Slow clients. The clock is advanced; the tests do not wait.
@Suite(.mayBlock, .timeLimit(.minutes(5))) struct SlowClientTests {
  private typealias Kind = FramePeer.Kind

  /// Waits until the server has processed what was sent.
  private func settle(_ peer: FramePeer) {
    peer.send(Kind.ping, 0, 0, [1, 1, 1, 1, 1, 1, 1, 1])
    _ = peer.next(Kind.ping)
  }

  @Test(arguments: [
    "", "PRI * HTT", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\u{6}",
  ])
  func anIncompleteGreetingTimesOut(_ greeting: String) async throws {
    try await HostilePair.with { hostile async throws in
      let peer = try FramePeer(hostile.pair.address, greets: false)
      peer.raw.send(Array(greeting.utf8))
      // The server's settings: it has accepted the connection.
      #expect(peer.next(Kind.settings) != nil)
      await hostile.loop.advance(by: .seconds(21))
      #expect(peer.raw.readToEnd())
      await hostile.abuses.wait(for: .handshakeTimeout)
    }
  }

  @Test func anIncompleteTLSHandshakeTimesOut() async throws {
    try await HostilePair.with(.tls) { hostile async throws in
      // The start of a ClientHello record of 512 bytes, of which few arrive.
      let peer = try RawPeer(hostile.pair.address)
      peer.send([0x16, 3, 1, 2, 0, 1, 0, 1, 0xfc])
      let server = hostile.pair.server
      await hostile.loop.until { server.core.connectionCount == 2 }
      await hostile.loop.advance(by: .seconds(21))
      #expect(peer.readToEnd())
      await hostile.abuses.wait(for: .handshakeTimeout)
    }
  }

  @Test(arguments: [0, 4] as [UInt8]) func endlessHeadersTimeOut(_ flags: UInt8) async throws {
    try await HostilePair.with { hostile async throws in
      let peer = try hostile.connect()
      settle(peer)
      // With END_HEADERS it is the frame that does not end, without it the block.
      let frame = FramePeer.frame(Kind.headers, flags, 1, FramePeer.block(FramePeer.call("Get")))
      peer.raw.send(flags == 0 ? frame : frame.dropLast(5))
      let server = hostile.pair.server
      await hostile.loop.until { server.core.connections.contains { $0.http2?.isInsideHeaders == true } }
      await hostile.loop.advance(by: .seconds(21))
      #expect(peer.next(Kind.goAway)?.payload[7] == 11)
      #expect(peer.raw.readToEnd())
      #expect(hostile.abuses.counts == [.slowHeaders: 1])
    }
  }

  /// Each block has its own time, also if every read ends in the next one.
  @Test func headersThatFollowOneAnotherAreNotSlow() async throws {
    try await HostilePair.with { hostile async throws in
      let peer = try hostile.connect()
      func head(_ stream: UInt32) -> [UInt8] {
        FramePeer.frame(Kind.headers, 5, stream, FramePeer.block(FramePeer.call("Nothing")))
      }
      peer.raw.send(head(1) + head(3).prefix(30))
      for index in 0..<4 as Range<UInt32> {
        #expect(peer.nextHeaders()?.fields["grpc-status"] == "12")
        await hostile.loop.advance(by: .seconds(11))
        peer.raw.send(Array(head(2 * index + 3).dropFirst(30)) + head(2 * index + 5).prefix(30))
      }
      #expect(peer.nextHeaders()?.fields["grpc-status"] == "12")
      #expect(hostile.abuses.counts.isEmpty)
    }
  }

  @Test func headersInPiecesAreAcceptedInTime() async throws {
    try await HostilePair.with { hostile async throws in
      let peer = try hostile.connect()
      for byte in FramePeer.frame(Kind.headers, 4, 1, FramePeer.block(FramePeer.call("Get"))) {
        peer.raw.send([byte])
      }
      for byte in FramePeer.frame(Kind.data, 1, 1, [0, 0, 0, 0, 1, 7]) { peer.raw.send([byte]) }
      #expect(peer.next(Kind.data)?.payload == [0, 0, 0, 0, 1, 7])
      await hostile.loop.advance(by: .seconds(21))
      settle(peer)
      #expect(hostile.abuses.counts.isEmpty)
    }
  }

  @Test func anEndlessRequestTimesOut() async throws {
    try await HostilePair.with { hostile async throws in
      let peer = try hostile.connect()
      peer.headers(1, FramePeer.call("Get"))
      peer.data(1, [0, 0, 0, 0, 9, 1])
      // A client that streams requests may take any time.
      peer.headers(3, FramePeer.call("Update"))
      settle(peer)
      await hostile.loop.advance(by: .seconds(121))
      #expect(peer.nextHeaders()?.fields["grpc-status"] == "4")
      peer.data(3, [0, 0, 0, 0, 1, 7], ends: true)
      #expect(peer.next(Kind.data)?.payload == [0, 0, 0, 0, 1, 7])
      #expect(hostile.abuses.counts == [.slowRequest: 1])
    }
  }

  @Test func anEndlessRequestThatIsNotACallTimesOut() async throws {
    try await HostilePair.with { hostile async throws in
      let peer = try hostile.connect()
      peer.headers(1, [(":method", "POST"), (":scheme", "http"), (":path", "/"), (":authority", "test")])
      settle(peer)
      await hostile.loop.advance(by: .seconds(121))
      #expect(peer.nextHeaders()?.fields[":status"] == "415")
      #expect(hostile.abuses.counts == [.slowRequest: 1])
    }
  }

  @Test func aPeerThatDisappearsIsDisconnected() async throws {
    var options = ServerOptions()
    options.keepaliveInterval = .seconds(60)
    try await HostilePair.with(.ipv4, options) { hostile async throws in
      let peer = try hostile.connect()
      settle(peer)
      await hostile.loop.advance(by: .seconds(61))
      // It receives the ping and does not answer.
      #expect(peer.next(Kind.ping)?.flags == 0)
      // The other client has answered before the second ping.
      for _ in 0..<2 { #expect(try await hostile.pair.get() == [1, 2, 3]) }
      await hostile.loop.advance(by: .seconds(21))
      #expect(peer.raw.readToEnd())
      await hostile.abuses.wait(for: .silence)
    }
  }

  @Test func connectionsAboveTheLimitAreClosed() async throws {
    var options = ServerOptions()
    options.maxConnections = 3
    try await HostilePair.with(.ipv4, options) { hostile async throws in
      let idle = try (0..<2).map { _ in try hostile.connect() }
      for peer in idle { settle(peer) }
      for _ in 0..<50 {
        let peer = try RawPeer(hostile.pair.address)
        #expect(peer.readToEnd())
      }
      #expect(hostile.abuses.counts == [.connectionLimit: 50])
      withExtendedLifetime(idle) {}
    }
  }
}
