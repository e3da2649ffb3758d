import HTTP2TestSupport
import ServerTestSupport
import SwitchboardCall
import SwitchboardNetwork
import SwitchboardTransport
import TestSupport
import Testing

/// Clients that ask for more pages than they read.
@Suite(.mayBlock, .timeLimit(.minutes(5))) struct PageAttackTests {
  private typealias Kind = FramePeer.Kind

  private func options(pageSize: Int = 100_000) -> ServerOptions {
    let page = HTTPPage.Response(contentType: "text/plain", body: [UInt8](repeating: 65, count: pageSize))
    var options = ServerOptions()
    options.pages = [HTTPPage("GET", "/large") { _ in page }]
    return options
  }

  private func get(_ path: String) -> [(String, String)] {
    [(":method", "GET"), (":scheme", "http"), (":path", path), (":authority", "test")]
  }

  @Test func aPageThatNobodyReadsIsGivenUp() async throws {
    try await HostilePair.with(.ipv4, options()) { hostile async throws in
      let peer = try hostile.connect()
      peer.send(Kind.settings, 0, 0, [0, 4] + FramePeer.number(0))
      peer.headers(1, get("/large"), ends: true)
      #expect(peer.nextHeaders()?.fields[":status"] == "200")
      await hostile.loop.advance(by: .seconds(121))
      #expect(peer.next(Kind.resetStream)?.payload == [0, 0, 0, 8])
    }
  }

  @Test func aPageThatNobodyReadsOverHTTP1EndsTheConnection() async throws {
    // More than the buffers of the system take.
    try await HostilePair.with(.ipv4, options(pageSize: 16 << 20)) { hostile async throws in
      let peer = try HTTP1Peer(hostile.pair.address)
      peer.send(ConnectPeer.head("GET", "/large", "", []))
      #expect(peer.line() == "HTTP/1.1 200 OK")
      let server = hostile.pair.server
      // The buffers of the system may still be filling, and each write gives the client its time anew.
      while !Task.isCancelled, await server.snapshot().connections.count > 1 {
        await hostile.loop.advance(by: .seconds(121))
      }
    }
  }

  /// Those of clients that are gone are cancelled.
  @Test func handlersOfPagesDoNotPileUp() async throws {
    var options = options()
    let running = Counter()
    options.pages.append(
      HTTPPage("GET", "/slow") { _ in
        running.add(1)
        try? await Task.sleep(for: .seconds(3600))
        running.add(-1)
        return HTTPPage.Response()
      }
    )
    try await HostilePair.with(.ipv4, options) { hostile async throws in
      var peers: [FramePeer] = []
      for _ in 0..<3 {
        let peer = try hostile.connect()
        for index in 0..<100 { peer.headers(UInt32(2 * index + 1), get("/slow"), ends: true) }
        peers.append(peer)
        if peers.count < 3 { #expect(peer.settle()) }
      }
      for _ in 0..<44 { #expect(peers[2].nextHeaders()?.fields[":status"] == "503") }
      #expect(running.value == 256)
      // Others are served.
      let peer = try hostile.connect()
      peer.headers(1, get("/large"), ends: true)
      #expect(peer.nextHeaders()?.fields[":status"] == "200")
      peers = []
      await hostile.loop.until { running.value == 0 }
    }
  }

  /// Bodies that are not whole, of clients that may not even be allowed to ask.
  @Test func theBodiesOfAConnectionAreBoundedTogether() async throws {
    var options = ServerOptions()
    options.pages = [
      HTTPPage("POST", "/put", bodyLimit: 1 << 20) { HTTPPage.Response(body: "\($0.body.count)".utf8) }
    ]
    let post = [(":method", "POST"), (":scheme", "http"), (":path", "/put"), (":authority", "test")]
    let piece = [UInt8](repeating: 1, count: 16_000)
    try await HostilePair.with(.ipv4, options) { hostile async throws in
      let peer = try hostile.connect()
      // The server's windows are in force once they are acknowledged.
      peer.send(Kind.settings, 1, 0, [])
      func put(_ stream: UInt32, pieces: Int, ends: Bool = true) {
        peer.headers(stream, post)
        for number in 1...pieces { peer.data(stream, piece, ends: ends && number == pieces) }
      }
      func answer() throws -> [String] {
        let status = try #require(peer.nextHeaders()?.fields[":status"])
        return [status, String(decoding: try #require(peer.next(Kind.data)).payload, as: UTF8.self)]
      }
      put(1, pieces: 40, ends: false)
      // Small ones are not counted.
      put(3, pieces: 1)
      #expect(try answer() == ["200", "16000"])
      put(5, pieces: 40)
      #expect(try answer().first == "429")
      peer.data(1, [], ends: true)
      #expect(try answer() == ["200", "640000"])
      // What was answered is no longer counted.
      put(7, pieces: 60)
      #expect(try answer() == ["200", "960000"])
    }
  }
}
