import SwitchboardCall
import Testing

@testable import SwitchboardHTTP2

/// Sessions of one loop, of which one calls another while it sends: what the other allocates is not the first one's.
@Suite struct SessionArenaTests {
  private final class Stream: StreamEntry, SessionStream {
    /// Runs while the session reads the body.
    var whileSending: (() -> Void)?
    var headerCount = 0

    func headersWereRefused(_ status: GRPCStatus) {}
    func didClose(_ code: UInt32) {}

    func receiveHeader(_ name: Bytes, _ value: Bytes, _ fields: FieldCollector) { headerCount += 1 }
    func headersDidEnd(endsStream: Bool, _ fields: FieldCollector) {}
    func takeTraceParent() -> TraceParentText? { nil }
    func receiveData(_ bytes: UnsafeRawBufferPointer) {}
    func remoteDidEnd() {}
    func localDidEnd() {}
    func readBody(into buffer: UnsafeMutableRawBufferPointer) -> BodyRead {
      whileSending.take()?()
      return .last(0)
    }
    func takeBorrowed(_ count: Int) -> (MessageBuffer, UnsafeRawBufferPointer)? { nil }
    func trailers(into headers: HeaderWriter) -> Trailers { .none }
    func processReady() {}
  }

  private final class Peer: SessionDelegate {
    var streams: [Stream] = []
    var sessionNow: UInt64 { 1 }

    func sessionDidOpenStream(_ id: Int32) -> (any SessionStream)? {
      let stream = Stream()
      streams.append(stream)
      return stream
    }
    func sessionDidReceiveGoAway(_ goAway: GoAway) {}
    func sessionDidReceiveSettings() {}
    func sessionDidReceivePing(isAck: Bool, payload: UInt64) {}
    func sessionDidBlamePeer() {}
  }

  /// Two ends of a connection.
  private struct Pair {
    let client: Session
    let server: Session
    let peer = Peer()

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
    func submit(_ stream: Stream) -> Bool {
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
    #expect(pair.submit(Stream()))
    Pair.exchange(pair.client, pair.server)
    let stream = try #require(pair.peer.streams.first)
    var wasSubmitted = false
    stream.whileSending = { wasSubmitted = other.submit(Stream()) }
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
      #expect(pair.submit(Stream()))
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
