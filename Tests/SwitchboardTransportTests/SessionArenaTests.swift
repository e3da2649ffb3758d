import SwitchboardCall
import Testing

@testable import SwitchboardNetwork
@testable import SwitchboardTransport

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

    func respond(_ stream: StubStream) {
      server.headers.reset()
      server.headers.add(":status", "200")
      server.submitResponse(stream)
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
    pair.respond(stream)
    Pair.exchange(pair.server, pair.client)
    #expect(wasSubmitted)
    pair.server.pack()
    #expect(pair.server.isPacked)
    Pair.exchange(other.client, other.server)
    #expect(other.peer.streams.first?.headerCount == 5)
  }

  /// A large frame that was sent, of small messages, does not keep a session from being packed: nobody needs it any more.
  @Test func largeFramesDoNotKeepASessionFromBeingPacked() throws {
    let pair = try Pair(BlockPool())
    for byte in 1...4 as ClosedRange<UInt8> {
      let call = StubStream()
      #expect(pair.submit(call))
      Pair.exchange(pair.client, pair.server)
      let stream = try #require(pair.peer.streams.last)
      stream.copied = [UInt8](repeating: byte, count: 30_000 + 100 * Int(byte))
      let body = stream.copied
      pair.respond(stream)
      Pair.exchange(pair.server, pair.client)
      #expect(call.received == body)
      pair.server.pack()
      #expect(pair.server.isPacked)
    }
  }

  /// The buffer in which a large frame was has the head of another one, when a turn ends.
  @Test func aPendingFrameIsKept() throws {
    let pair = try Pair(BlockPool())
    let calls = [StubStream(), StubStream()]
    for call in calls { #expect(pair.submit(call)) }
    Pair.exchange(pair.client, pair.server)
    let streams = pair.peer.streams
    try #require(streams.count == 2)
    streams[0].copied = [UInt8](repeating: 1, count: 30_000)
    pair.respond(streams[0])
    Pair.exchange(pair.server, pair.client)
    streams[1].borrowed = (2...4).map { value in
      MessageBuffer([UInt8](repeating: value, count: 8000))
    }
    let body = streams[1].borrowed.flatMap { Array($0.unsafeFramedBytes) }
    pair.respond(streams[1])
    let output = OutputBuffer()
    #expect(pair.server.drain(into: output, limit: 10_000) == .some)
    #expect(output.byteCount < body.count)
    pair.server.pack()
    #expect(pair.server.drain(into: output, limit: 1 << 20) == .all)
    output.forEachPiece { _ = pair.client.receive($0, now: 1) }
    #expect(calls[1].received == body)
    #expect(calls[0].received.count == 30_000)
    pair.server.pack()
    #expect(pair.server.isPacked)
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
