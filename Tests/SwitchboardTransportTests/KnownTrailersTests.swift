import CNghttp2
import SwitchboardCall
import Testing

@testable import SwitchboardNetwork
@testable import SwitchboardTransport

/// Trailers that nghttp2 does not encode again. What a client receives must not depend on that.
@Suite struct KnownTrailersTests {
  /// A response of a server, and how it ends.
  private struct Response {
    var metadata: String?
    var body: [UInt8] = [1, 2, 3]
    var isBorrowed = false
    var knowsEnd = true
    /// Metadata of the trailers; `nil` if they say success alone.
    var trailer: String?
    /// The size of the table for headers that the client announces first, or after it has received the head.
    var tableSize: UInt32?
    var announcesAfterHead = false
  }

  /// What the client received of a response.
  private struct Received: Equatable {
    let lines: [String]
    let body: [UInt8]
    let hasEnded: Bool
    let code: UInt32?
  }

  /// Serves responses on one connection. Returns what the client received, and how many trailers nghttp2 did not encode.
  private func serve(_ responses: [Response], knowing: Bool = true) throws -> (
    received: [Received], known: Int
  ) {
    let blocks = BlockPool()
    let client = try #require(Session(.client, settings: SessionSettings(isServer: false), memory: blocks))
    var settings = SessionSettings()
    settings.takesShortcuts = knowing
    let server = try #require(Session(.server, settings: settings, memory: blocks))
    let peer = StubPeer()
    server.delegate = peer
    var known = 0
    let received = try responses.map { response in
      if !response.announcesAfterHead { announce(response.tableSize, by: client) }
      let call = StubStream()
      client.headers.reset()
      for (name, value) in [(":method", "POST"), (":scheme", "http"), (":path", "/"), (":authority", "a")]
        as [(StaticString, StaticString)]
      {
        client.headers.add(name, value)
      }
      #expect(client.submitRequest(call))
      try pass(client, to: server)
      let stream = try #require(peer.streams.last)
      if response.isBorrowed {
        stream.borrowed = [MessageBuffer(response.body)]
      } else {
        stream.copied = response.body
      }
      stream.knowsEnd = response.knowsEnd
      stream.endWith = { headers in
        headers.reset()
        headers.add("grpc-status", "0")
        if let trailer = response.trailer { headers.add("x-trailer", trailer.utf8) }
        if response.trailer == nil, server.shortcuts?.trailers.areKnown == true { known += 1 }
        return response.trailer == nil ? .success : .written
      }
      server.headers.reset()
      server.headers.add(.response)
      if let metadata = response.metadata { server.headers.add("x-metadata", metadata.utf8) }
      server.submitResponse(stream)
      if response.announcesAfterHead {
        try pass(server, to: client, upTo: 1)
        announce(response.tableSize, by: client)
        try pass(client, to: server)
      }
      try pass(server, to: client)
      // What the client has to say about it, such as that it has applied settings.
      try pass(client, to: server)
      return Received(lines: call.lines, body: call.received, hasEnded: call.hasEnded, code: call.closeCode)
    }
    #expect(server.streams.count == 0 && client.streams.count == 0)
    withExtendedLifetime(peer) {}
    return (received, known)
  }

  private func announce(_ tableSize: UInt32?, by client: Session) {
    guard let tableSize else { return }
    let id = Int32(NGHTTP2_SETTINGS_HEADER_TABLE_SIZE.rawValue)
    var entry = nghttp2_settings_entry(settings_id: id, value: tableSize)
    #expect(nghttp2_submit_settings(client.raw, 0, &entry, 1) == 0)
  }

  /// Passes all output, or the first frames of at least this size.
  private func pass(_ session: Session, to other: Session, upTo limit: Int? = nil) throws {
    let output = OutputBuffer()
    while session.drain(into: output, limit: limit ?? 1 << 20) == .some, limit == nil {}
    output.forEachPiece { #expect(other.receive($0, now: 1) == nil) }
    #expect(other.wantsToRead)
  }

  /// Expects the client to receive what it would if nghttp2 encoded all trailers. Returns how many it did not.
  private func compare(_ responses: [Response]) throws -> Int {
    let (received, known) = try serve(responses)
    #expect(received == (try serve(responses, knowing: false).received))
    for (response, received) in zip(responses, received) {
      #expect(received.hasEnded && received.code == 0)
      #expect(received.lines.contains("grpc-status=0"))
      #expect(response.trailer.map { received.lines.contains("x-trailer=\($0)") } ?? true)
    }
    return known
  }

  @Test func trailersOfSuccessAreEncodedUntilTheyAreKnown() throws {
    let known = try compare(Array(repeating: Response(), count: 10))
    #expect(known == 8)
  }

  @Test func anEmptyEndOfTheBodyIsLeftOut() throws {
    let known = try compare(Array(repeating: Response(knowsEnd: false), count: 10))
    #expect(known == 8)
  }

  @Test func aBodyThatIsNotCopiedIsFollowedByEncodedTrailers() throws {
    var responses = Array(repeating: Response(), count: 4)
    responses += Array(
      repeating: Response(body: [UInt8](repeating: 7, count: 5000), isBorrowed: true),
      count: 4
    )
    _ = try compare(responses + responses)
  }

  @Test func aBlockThatChangesTheTableMakesThemUnknown() throws {
    var responses = Array(repeating: Response(), count: 4)
    responses += [
      Response(metadata: "a"), Response(), Response(), Response(trailer: "b"), Response(), Response(),
    ]
    #expect(try compare(responses) == 2 + 2 + 1)
  }

  @Test(arguments: [0, 64, 4096] as [UInt32], [false, true])
  func aNewTableMakesThemUnknown(_ size: UInt32, _ announcesAfterHead: Bool) throws {
    let small = Response(tableSize: size, announcesAfterHead: announcesAfterHead)
    let large = Response(tableSize: 4096, announcesAfterHead: announcesAfterHead)
    var responses = Array(repeating: Response(), count: 4)
    responses += [small, Response(), large, Response(), Response()]
    _ = try compare(responses)
  }

  @Test(arguments: 0..<50)
  func whatAClientReceivesDoesNotDependOnThem(_ seed: Int) throws {
    var dice = Dice(state: UInt64(seed))
    func happens(oneIn count: Int) -> Bool { Int.random(in: 0..<count, using: &dice) == 0 }
    let responses = (0..<60).map { _ in
      var response = Response()
      if happens(oneIn: 8) { response.metadata = "\(Int.random(in: 0..<4, using: &dice))" }
      if happens(oneIn: 8) { response.trailer = "\(Int.random(in: 0..<4, using: &dice))" }
      if happens(oneIn: 16) {
        response.tableSize = [0, 32, 64, 100, 4096, 65536].randomElement(using: &dice)
      }
      response.announcesAfterHead = happens(oneIn: 2)
      response.knowsEnd = happens(oneIn: 2)
      response.isBorrowed = happens(oneIn: 6)
      let limit = response.isBorrowed ? 4000 : 40
      response.body = [UInt8](repeating: 1, count: Int.random(in: 0..<limit, using: &dice))
      return response
    }
    _ = try compare(responses)
  }
}

private struct Dice: RandomNumberGenerator {
  var state: UInt64

  mutating func next() -> UInt64 {
    state &+= 0x9e37_79b9_7f4a_7c15
    var mixed = state
    mixed = (mixed ^ mixed >> 30) &* 0xbf58_476d_1ce4_e5b9
    mixed = (mixed ^ mixed >> 27) &* 0x94d0_49bb_1331_11eb
    return mixed ^ mixed >> 31
  }
}
