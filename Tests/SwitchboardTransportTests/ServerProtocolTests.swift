import HTTP2TestSupport
import SwitchboardCall
import TestSupport
import Testing

@testable import SwitchboardNetwork
@testable import SwitchboardTransport

/// The responses of the server to clients that follow the protocol and to clients that violate it.
@Suite(.mayBlock, .timeLimit(.minutes(5))) struct ServerProtocolTests {
  private typealias Kind = FramePeer.Kind

  private func request(
    _ path: String = "/test.Test/Get",
    changing changes: [String: String?] = [:]
  ) -> [(String, String)] {
    let usual = [
      (":method", "POST"), (":scheme", "http"), (":path", path), (":authority", "test"), ("te", "trailers"),
      ("content-type", "application/grpc"),
    ]
    let kept = usual.compactMap { field -> (String, String)? in
      guard let change = changes[field.0] else { return field }
      return change.map { (field.0, $0) }
    }
    let added = changes.filter { name, _ in !usual.contains { $0.0 == name } }
    return kept + added.compactMap { name, value in value.map { (name, $0) } }
  }

  private func with(_ body: (FramePeer, TestPair) async throws -> Void) async throws {
    try await TestPair.with { pair async throws in
      try await body(try FramePeer(pair.address), pair)
      // Whatever happened to one connection, others still work.
      #expect(try await pair.get() == [1, 2, 3])
    }
  }

  private static let message: [UInt8] = [0, 0, 0, 0, 2, 7, 8]

  /// On a real network headers arrive in pieces, and calls end meanwhile.
  @Test func headersThatComeWhileAnotherCallEndsAreWhole() async throws {
    try await HostilePair.with { hostile async throws in
      let peer = try hostile.connect()
      peer.headers(1, FramePeer.call("GreetOnce"))
      peer.data(1, [0, 0, 0, 0, 0], ends: true)
      #expect(peer.next(Kind.headers)?.endsStream == false)
      let headers = FramePeer.frame(Kind.headers, 4, 3, FramePeer.block(FramePeer.call("Get")))
      peer.raw.send(Array(headers.prefix(20)))
      let server = hostile.pair.server
      await hostile.loop.until { server.core.connections.contains { $0.http2?.isInsideHeaders == true } }
      hostile.pair.service.released.fire()
      #expect(peer.next(Kind.headers)?.endsStream == true)
      peer.raw.send(Array(headers.dropFirst(20)))
      peer.data(3, [0, 0, 0, 0, 1, 7], ends: true)
      #expect(peer.next(Kind.data)?.payload == [0, 0, 0, 0, 1, 7])
    }
  }

  @Test func aCallIsAnsweredWithHeadersMessageAndTrailers() async throws {
    try await with { peer, _ async throws in
      peer.headers(1, request())
      peer.data(1, Self.message, ends: true)
      let headers = try #require(peer.nextHeaders())
      #expect(headers.fields == [":status": "200", "content-type": "application/grpc"])
      #expect(peer.next(Kind.data)?.payload == Self.message)
      let trailers = try #require(peer.nextHeaders())
      #expect(trailers.fields == ["grpc-status": "0"])
      #expect(trailers.ends)
    }
  }

  @Test(arguments: [
    ("content-type", "text/plain", "415", "13"), (":method", "GET", "405", "13"),
    ("grpc-timeout", "soon", "200", "13"), (":path", "/test.Test/Nothing", "200", "12"),
    ("grpc-encoding", "rot13", "200", "12"),
  ])
  func aRequestThatIsNotGRPCIsRefused(_ sample: (name: String, value: String, http: String, code: String))
    async throws
  {
    try await with { peer, _ async throws in
      peer.headers(1, request(changing: [sample.name: sample.value]), ends: true)
      let answer = try #require(peer.nextHeaders())
      #expect(answer.fields[":status"] == sample.http)
      #expect(answer.fields["grpc-status"] == sample.code)
      #expect(answer.ends)
    }
  }

  /// Another reader might take another of the values.
  @Test(arguments: [
    ("content-type", "application/grpc", "400", "13"), ("content-type", "application/json", "400", "13"),
    ("grpc-timeout", "10S", "200", "13"), ("grpc-encoding", "gzip", "200", "12"),
  ])
  func aRequestThatSaysSomethingTwiceIsRefused(
    _ sample: (name: String, value: String, http: String, code: String)
  ) async throws {
    try await with { peer, _ async throws in
      let twice = [("grpc-timeout", "10S"), ("grpc-encoding", "gzip")].filter { $0.0 == sample.name }
      peer.headers(1, request() + twice + [(sample.name, sample.value)], ends: true)
      let answer = try #require(peer.nextHeaders())
      #expect(answer.fields[":status"] == sample.http)
      #expect(answer.fields["grpc-status"] == sample.code)
      #expect(answer.ends)
    }
  }

  /// RFC 9113 lets a server treat the violation of a stream as one of the connection. A client that has not seen the limit
  /// yet violates nothing.
  @Test(arguments: [false, true]) func streamsAboveTheLimitAreRefused(isKnown: Bool) async throws {
    var options = ServerOptions()
    options.maxConcurrentStreams = 2
    try await TestPair.with(server: options) { pair async throws in
      let peer = try FramePeer(pair.address)
      if isKnown { peer.send(Kind.settings, 1, 0, []) }
      for stream in [1, 3, 5] as [UInt32] { peer.headers(stream, FramePeer.call("Deaf")) }
      if isKnown {
        #expect(peer.next(Kind.goAway)?.payload[7] == 1)
        #expect(peer.raw.readToEnd())
      } else {
        let reset = try #require(peer.next(Kind.resetStream))
        #expect(reset.stream == 5)
        #expect(reset.payload == [0, 0, 0, 7])
        peer.send(Kind.resetStream, 0, 1, [0, 0, 0, 8])
        peer.headers(7, FramePeer.call("Get"))
        peer.data(7, Self.message, ends: true)
        #expect(peer.next(Kind.data)?.payload == Self.message)
      }
      #expect(try await pair.get() == [1, 2, 3])
    }
  }

  @Test(arguments: [
    ("application/grpc", "application/grpc"), ("application/grpc+", "application/grpc"),
    ("application/grpc;charset=utf-8", "application/grpc"),
    ("application/grpc+named", "application/grpc+named"),
    ("application/grpc+NAMED", "application/grpc+named"),
    ("application/grpc+named ;charset=utf-8", "application/grpc+named"),
  ])
  func theAnswerIsInTheRequestsFormat(_ sample: (asked: String, answered: String)) async throws {
    try await with { peer, _ async throws in
      peer.headers(1, request("/test.Test/Named", changing: ["content-type": sample.asked]))
      peer.data(1, Self.message, ends: true)
      #expect(peer.nextHeaders()?.fields == [":status": "200", "content-type": sample.answered])
      #expect(peer.next(Kind.data)?.payload == Self.message)
      #expect(peer.nextHeaders()?.fields["grpc-status"] == "0")
    }
  }

  @Test(arguments: ["application/grpc+other", "application/grpc+other;charset=utf-8"])
  func aFormatThatTheMethodDoesNotHaveIsUnimplemented(_ contentType: String) async throws {
    try await with { peer, _ async throws in
      peer.headers(1, request("/test.Test/Named", changing: ["content-type": contentType]))
      peer.data(1, Self.message, ends: true)
      let answer = try #require(peer.nextHeaders())
      // A gRPC client gets a gRPC response: an HTTP status would not carry the code.
      #expect(answer.fields[":status"] == "200")
      #expect(answer.fields["content-type"] == "application/grpc")
      #expect(answer.fields["grpc-status"] == "12")
      #expect(answer.ends)
    }
  }

  @Test func aRequestThatDoesNotTakeTrailersIsRefused() async throws {
    try await with { peer, _ async throws in
      peer.headers(1, request(changing: ["te": nil]), ends: true)
      #expect(peer.nextHeaders()?.fields["grpc-status"] == "13")
    }
  }

  @Test(
    arguments: [
      ([0, 0, 0, 0, 9, 1], "13"), ([7, 0, 0, 0, 0], "13"), ([0, 0, 0], "13"), ([], "12"),
      ([1, 0, 0, 0, 1, 7], "13"), ([0, 255, 255, 255, 255], "8"),
      ([0, 0, 0, 0, 0, 0, 0, 0, 0, 0], "12"),
    ] as [([UInt8], String)]
  )
  func brokenFramingEndsTheCall(_ sample: (body: [UInt8], code: String)) async throws {
    try await with { peer, _ async throws in
      peer.headers(1, request())
      peer.data(1, sample.body, ends: true)
      #expect(peer.nextHeaders()?.fields["grpc-status"] == sample.code)
    }
  }

  @Test func aMessageInManyPiecesIsReassembled() async throws {
    try await with { peer, _ async throws in
      peer.headers(1, request())
      for byte in Self.message { peer.data(1, [byte]) }
      peer.data(1, [], ends: true)
      #expect(peer.next(Kind.data)?.payload == Self.message)
    }
  }

  @Test func anAnswerBeforeTheRequestsEndStopsTheClient() async throws {
    try await with { peer, _ async throws in
      peer.headers(1, request("/test.Test/Ignore"))
      #expect(peer.nextHeaders()?.fields["grpc-status"] == "8")
      let reset = try #require(peer.next(Kind.resetStream))
      #expect(reset.payload == [0, 0, 0, 0])
    }
  }

  @Test func aResetCancelsTheHandler() async throws {
    try await with { peer, pair async throws in
      peer.headers(1, request("/test.Test/Hang"))
      peer.data(1, Self.message, ends: true)
      await pair.service.hanging.wait()
      peer.send(Kind.resetStream, 0, 1, [0, 0, 0, 8])
      await pair.service.cancelled.wait()
    }
  }

  @Test func aMalformedRequestCancelsTheHandler() async throws {
    try await with { peer, pair async throws in
      // It reads nothing, so it does not learn of the failure that way.
      peer.headers(1, request("/test.Test/Sleep"))
      peer.send(Kind.ping, 0, 0, [1, 2, 3, 4, 5, 6, 7, 8])
      #expect(peer.next(Kind.ping) != nil)
      peer.data(1, [9, 0, 0, 0, 0])
      #expect(peer.nextHeaders()?.fields["grpc-status"] == "13")
      await pair.service.released.wait()
    }
  }

  @Test func theDeadlineHoldsForARequestThatNeverEnds() async throws {
    try await with { peer, _ async throws in
      peer.headers(1, request(changing: ["grpc-timeout": "50m"]))
      #expect(peer.nextHeaders()?.fields["grpc-status"] == "4")
    }
  }

  @Test func pingsAreAnswered() async throws {
    try await with { peer, _ async throws in
      peer.send(Kind.ping, 0, 0, [1, 2, 3, 4, 5, 6, 7, 8])
      #expect(peer.next(Kind.ping)?.payload == [1, 2, 3, 4, 5, 6, 7, 8])
    }
  }

  @Test func shutdownWaitsUntilTheLastFramesAreRead() async throws {
    let group = try LoopGroup()
    let loop = group.loops[0]
    try await TestPair.with(serverGroup: group) { pair async throws in
      let peer = try FramePeer(pair.address)
      peer.send(Kind.ping, 0, 0, [1, 2, 3, 4, 5, 6, 7, 8])
      #expect(peer.next(Kind.ping)?.flags == 1)
      let isOver = Locked(false)
      let server = pair.server
      let stopping = Task {
        await server.shutDown(grace: .seconds(60))
        isOver.withLock { $0 = true }
      }
      #expect(peer.next(Kind.goAway) != nil)
      // Whether everything in transit has arrived.
      let question = try #require(peer.next(Kind.ping))
      peer.send(Kind.ping, 1, 0, question.payload)
      #expect(peer.raw.readToEnd())
      let wasOver = isOver.withLock { $0 }
      if await loop.onLoop({ loop.lingeringSockets > 0 }) { #expect(!wasOver) }
      withExtendedLifetime(peer) {}
      await stopping.value
    }
  }

  @Test func aFloodOfPingsGetsEnhanceYourCalm() async throws {
    try await with { peer, _ async throws in
      for _ in 0..<10 { peer.send(Kind.ping, 0, 0, [0, 0, 0, 0, 0, 0, 0, 0]) }
      let goAway = try #require(peer.next(Kind.goAway))
      #expect(goAway.payload[4..<8] == [0, 0, 0, 11])
      #expect(String(decoding: goAway.payload[8...], as: UTF8.self) == "too_many_pings")
      #expect(peer.raw.readToEnd())
    }
  }

  @Test(arguments: [
    "GET / HTTP/1.1\r\nHost: test\r\n\r\n", "\u{16}\u{3}\u{1}", "PRI * HTTP/2.0\r\n\r\nXX\r\n\r\n",
  ])
  func otherProtocolsAreDisconnected(_ text: String) async throws {
    try await TestPair.with { pair async throws in
      let peer = try FramePeer(pair.address, greets: false)
      peer.raw.send(Array(text.utf8) + [UInt8](repeating: 0, count: 100))
      #expect(peer.raw.readToEnd())
      #expect(try await pair.get() == [1, 2, 3])
    }
  }

  @Test func handlersThatIgnoreResetsDoNotPileUp() async throws {
    try await with { peer, pair async throws in
      // Too few to end a connection, however fast they come.
      for stream in stride(from: UInt32(1), to: 1000, by: 2) {
        peer.headers(stream, request("/test.Test/Stubborn"))
        peer.data(stream, Self.message, ends: true)
        peer.send(Kind.resetStream, 0, stream, [0, 0, 0, 8])
      }
      peer.send(Kind.ping, 0, 0, [1, 2, 3, 4, 5, 6, 7, 8])
      #expect(peer.next(Kind.ping) != nil)
      #expect(pair.service.stubborn.value <= 200)
      pair.service.released.fire()
    }
  }

  @Test func rapidResetsDoNotHurtOthers() async throws {
    try await with { peer, _ async throws in
      for stream in stride(from: UInt32(1), to: 20_000, by: 2) {
        peer.headers(stream, request("/test.Test/Hang"))
        peer.send(Kind.resetStream, 0, stream, [0, 0, 0, 8])
      }
    }
  }
}
