import SwitchboardCall
import Testing

@testable import SwitchboardHTTP2

/// Sessions of one loop, of which one calls another while it sends: what the other allocates is not the first one's.
@Suite struct SessionArenaTests {
  /// Two ends of a connection.
  private struct Pair {
    let client: Session
    let server: Session
    let peer = StubPeer()

    init(_ blocks: BlockPool) throws {
      client = try #require(Session(.client, settings: SessionSettings(isServer: false), memory: blocks))
      server = try #require(Session(.server, settings: SessionSettings(), memory: blocks))
      server.delegate = peer
      Pair.exchange(client, server)
      Pair.exchange(server, client)
      Pair.exchange(client, server)
    }

    static func exchange(_ sender: Session, _ receiver: Session) {
      let output = OutputBuffer()
      while sender.drain(into: output, limit: 1 << 20) == .some {}
      output.forEachPiece { _ = receiver.receive($0, now: 1) }
    }

    /// Submits a request with a long header.
    func submit(_ stream: StubStream) -> Bool {
      client.headers.reset()
      client.headers.add(":method", "POST")
      client.headers.add(":scheme", "http")
      client.headers.add(":path", "/")
      client.headers.add(":authority", "a")
      client.headers.add("authorization", [UInt8](repeating: 0x61, count: 800))
      return client.submitRequest(stream)
    }
  }

  @Test func aCallWithinACallbackKeepsItsMemory() throws {
    let blocks = BlockPool()
    let (pair, other) = (try Pair(blocks), try Pair(blocks))
    #expect(pair.submit(StubStream()))
    Pair.exchange(pair.client, pair.server)
    let stream = try #require(pair.peer.streams.first)
    var wasSubmitted = false
    stream.whileSending = { wasSubmitted = other.submit(StubStream()) }
    pair.server.headers.reset()
    pair.server.headers.add(":status", "200")
    pair.server.submitResponse(stream)
    Pair.exchange(pair.server, pair.client)
    #expect(wasSubmitted)
    pair.server.pack()
    #expect(pair.server.isPacked)
    Pair.exchange(other.client, other.server)
    #expect(other.peer.streams.first?.headerCount == 5)
  }

  /// Long headers that come and go leave nothing in the arena that would keep it from being packed.
  @Test func longHeadersDoNotKeepASessionFromBeingPacked() throws {
    let pair = try Pair(BlockPool())
    for call in 0..<60 {
      #expect(pair.submit(StubStream()))
      Pair.exchange(pair.client, pair.server)
      let stream = try #require(pair.peer.streams.last)
      pair.peer.streams.removeAll()
      pair.server.headers.reset()
      pair.server.headers.add(":status", "200")
      pair.server.headers.add("grpc-message", Array("\(call)".utf8) + [UInt8](repeating: 0x62, count: 1850))
      pair.server.submitTrailersOnly(stream)
      Pair.exchange(pair.server, pair.client)
    }
    pair.server.pack()
    #expect(pair.server.isPacked)
  }
}
