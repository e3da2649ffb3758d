import HTTP2TestSupport
import SwitchboardCall
import Testing

@testable import SwitchboardNetwork
@testable import SwitchboardTransport

/// Heads of requests that nghttp2 does not decode again. What a server receives must not depend on that.
@Suite struct RepeatedHeadsTests {
  private typealias Kind = FramePeer.Kind

  private static let request = [
    (":method", "POST"), (":scheme", "http"), (":path", "/a/B"), (":authority", "x"),
  ]
  /// A head whose last field is the one that was added to the table last: `a: b`, after `first`.
  private static let indexed: [UInt8] = [0x83, 0x86, 0x84, 0x01, 1, 0x78, 0xbe]
  private static let first: [UInt8] = indexed.dropLast() + added("a", "b")

  /// A field that is added to the table.
  private static func added(_ name: String, _ value: String) -> [UInt8] {
    [0x40] + FramePeer.string(name) + FramePeer.string(value)
  }

  private static func head(_ stream: UInt32, _ block: [UInt8], _ flags: UInt8 = 5) -> [UInt8] {
    FramePeer.frame(Kind.headers, flags, stream, block)
  }

  /// Requests with this block on these streams.
  private static func heads(_ streams: [UInt32], _ block: [UInt8] = indexed, _ flags: UInt8 = 5) -> [UInt8] {
    streams.flatMap { head($0, block, flags) }
  }

  /// Receives the bytes that follow a greeting, and expects the same of a session without shortcuts. Returns the
  /// streams.
  @discardableResult
  private func receive(
    _ bytes: [UInt8],
    in pieceSize: Int = .max,
    takesTraceParents: Bool = false,
    maxHeaderListSize: Int = 16 * 1024,
    headerTableSize: Int? = nil
  ) throws -> [StubStream] {
    let pieces = stride(from: 0, to: bytes.count, by: pieceSize).map {
      Array(bytes[$0..<$0 + min(pieceSize, bytes.count - $0)])
    }
    let receptions = try [true, false].map {
      var session = Reception.Options(takesShortcuts: $0)
      session.takesTraceParents = takesTraceParents
      session.maxHeaderListSize = maxHeaderListSize
      session.headerTableSize = headerTableSize
      return try Reception(of: pieces, session)
    }
    #expect(receptions[0] == receptions[1])
    #expect(!receptions[1].streams.contains { $0.isRepeated })
    return receptions[0].streams
  }

  @Test func aRepeatedHeadIsTakenFromAnotherStream() throws {
    let streams = try receive(Self.head(1, Self.first) + Self.heads([3, 5, 7, 9]))
    #expect(streams.map(\.isRepeated) == [false, false, false, true, true])
    #expect(streams.allSatisfy { $0.headers.contains("a=b") && $0.hasEnded && $0.headerCount == 5 })
  }

  /// Of as many heads as a connection keeps, in turn.
  @Test func severalHeadsAreKept() throws {
    let blocks = (0..<RepeatedHeads.capacity).map { FramePeer.block(Self.request + [("n", "\($0)")]) }
    let bytes = (0..<10 * blocks.count).flatMap { Self.head(UInt32(2 * $0 + 1), blocks[$0 % blocks.count]) }
    let streams = try receive(bytes)
    #expect(streams.dropFirst(2 * blocks.count).allSatisfy { $0.isRepeated })
    for (index, stream) in streams.enumerated() {
      #expect(stream.headers.contains("n=\(index % blocks.count)"))
    }
  }

  /// Of more heads, some stay, and others are kept once those are out of use.
  @Test func headsInUseStay() throws {
    let blocks = (0..<2 * RepeatedHeads.capacity).map { FramePeer.block(Self.request + [("n", "\($0)")]) }
    var order = (0..<100).map { $0 % (RepeatedHeads.capacity + 2) }
    let later = RepeatedHeads.capacity..<2 * RepeatedHeads.capacity
    order += (0..<20).flatMap { _ in later }
    let streams = try receive(
      order.enumerated().flatMap { Self.head(UInt32(2 * $0.offset + 1), blocks[$0.element]) }
    )
    let kept = streams[50..<100].count { $0.isRepeated }
    #expect(kept >= 25)
    #expect(streams.suffix(3 * RepeatedHeads.capacity).allSatisfy { $0.isRepeated })
    for (index, stream) in zip(order, streams) { #expect(stream.headers.contains("n=\(index)")) }
  }

  @Test func aHeadThatComesOnceIsNotKept() throws {
    let streams = try receive(
      (0..<100).flatMap { Self.head(UInt32(2 * $0 + 1), FramePeer.block(Self.request + [("n", "\($0)")])) }
    )
    #expect(!streams.contains { $0.isRepeated })
  }

  @Test func aLargeHeadIsNotKept() throws {
    for (size, isKept) in [(RepeatedHeads.largestBlock, true), (RepeatedHeads.largestBlock + 1, false)] {
      var block = FramePeer.block(Self.request + [("m", String(repeating: "v", count: 100))])
      block += [UInt8](repeating: 0x90, count: size - block.count)
      let streams = try receive(Self.heads([1, 3, 5, 7], block))
      #expect(streams.last?.isRepeated == isKept)
    }
  }

  /// What comes between equal blocks and changes what they mean, and the field that they end with afterwards.
  private static let changes: [(bytes: [UInt8], field: String?)] = [
    (head(21, first.dropLast(5) + added("c", "d")), "c=d"),
    // Without a field of its own that would be decoded for the stream.
    (head(21, [0x20, 0x3f, 0xe1, 0x1f] + first.dropLast(5) + added("c", "d")), "c=d"),
    (head(21, [0x20] + FramePeer.block(request)), nil),
    // In trailers.
    (head(19, added("c", "d"), 5), "c=d"),
    // In pieces.
    (
      head(21, indexed, 1) + FramePeer.frame(Kind.continuation, 4, 21, added("c", "d")), "c=d"
    ),
    (head(21, [2] + indexed + added("c", "d") + [0, 0], 5 | 8), "c=d"),
    (head(21, [0, 0, 0, 0, 15] + indexed + added("c", "d"), 5 | 0x20), "c=d"),
    // Of a stream that is too late, and of one that is refused for its head.
    (head(3, added("c", "d")), nil),
    (head(21, added("c", "d") + [0x83, 0x86]), "c=d"),
    // Changes nothing, but could with other settings.
    (FramePeer.frame(Kind.settings, 1, 0, []), "a=b"),
    // A field that is not added changes nothing.
    (head(21, indexed + [0x10, 1, 0x63, 1, 0x64]), "a=b"),
    (head(21, indexed + [0x00, 1, 0x63, 1, 0x64]), "a=b"),
    (FramePeer.frame(Kind.ping, 0, 0, [1, 2, 3, 4, 5, 6, 7, 8]), "a=b"),
  ]

  @Test(arguments: changes.indices, [Int.max, 1, 7, 64])
  func aChangeOfTheTableMakesHeadsBeForgotten(_ change: Int, in pieceSize: Int) throws {
    let (bytes, field) = Self.changes[change]
    let streams = try receive(
      Self.head(1, Self.first) + Self.heads([3, 5, 7, 9]) + Self.head(19, Self.indexed, 4) + bytes
        + Self.heads([31, 33, 35, 37, 39]),
      in: pieceSize
    )
    let last = streams.filter { $0.id >= 31 }
    if pieceSize == .max { #expect(streams.first { $0.id == 9 }?.isRepeated == true) }
    guard let field else { return }
    #expect(last.count == 5 && last.allSatisfy { $0.headers.contains(field) })
    if pieceSize == .max { #expect(last.last?.isRepeated == true) }
  }

  /// The client's answer to the server's settings ends what it has put into the table before.
  @Test func aSmallerTableMakesHeadsBeForgotten() throws {
    let answer = FramePeer.frame(Kind.settings, 1, 0, [])
    let streams = try receive(
      Self.head(1, Self.first) + Self.heads([3, 5, 7]) + answer + Self.heads([9]),
      headerTableSize: 0
    )
    #expect(streams[3].isRepeated)
    #expect(streams.count == 4 || !streams[4].headers.contains("a=b"))
  }

  /// A frame is repeated only if all of it arrives at once, and the rest of it only if nothing else is in it.
  @Test(arguments: [Int.max, 1, 2, 13, 14, 15, 100])
  func framesInPiecesAreReceived(in pieceSize: Int) throws {
    let streams = try receive(
      Self.head(1, Self.first) + Self.heads([3, 5, 7, 9, 11])
        + Self.head(13, [3] + Self.indexed + [0, 0, 0], 13)
        + Self.head(15, [0, 0, 0, 0, 9] + Self.indexed, 0x25) + Self.heads([17]),
      in: pieceSize
    )
    #expect(streams.count == 9 && streams.allSatisfy { $0.headers.contains("a=b") && $0.hasEnded })
    #expect(streams.last { $0.id >= 13 && $0.isRepeated } == nil)
    let repeated = streams.count { $0.isRepeated }
    if pieceSize == .max { #expect(repeated == 3) }
  }

  @Test(arguments: [0, 4, 5, 6]) func theBodyIsCheckedAgainstItsLength(_ count: Int) throws {
    let block = FramePeer.block(Self.request + [("content-length", "5")])
    var whole: [UInt8] = []
    for stream in [1, 3, 5, 7] as [UInt32] {
      whole += Self.head(stream, block, 4)
      whole += FramePeer.frame(Kind.data, 1, stream, [1, 2, 3, 4, 5])
    }
    for first in [0, count / 2, count] {
      let body =
        FramePeer.frame(Kind.data, 0, 9, [UInt8](repeating: 7, count: first))
        + FramePeer.frame(Kind.data, 1, 9, [UInt8](repeating: 7, count: count - first))
      let streams = try receive(whole + Self.head(9, block, 4) + body)
      #expect(streams.last?.isRepeated == true)
      #expect(streams.last?.hasEnded == (count == 5))
      #expect((streams.last?.received.count ?? 0) <= 5)
    }
    let ended = try receive(whole + Self.head(9, block, 5))
    #expect(ended.last?.hasEnded == false)
    // Trailers may not say it again.
    for trailer in ["a", "content-length"] {
      let body = FramePeer.frame(Kind.data, 0, 9, [UInt8](repeating: 7, count: count))
      let trailers = Self.head(9, FramePeer.block([(trailer, "5")]), 5)
      let streams = try receive(whole + Self.head(9, block, 4) + body + trailers)
      #expect(streams.last?.hasEnded == (count == 5 && trailer == "a"))
    }
  }

  /// Leading zeros are allowed, however many there are.
  @Test(arguments: [126, 127, 130]) func theBodyIsCheckedAgainstALongLength(_ digits: Int) throws {
    let length = String(repeating: "0", count: digits - 1) + "5"
    let block: [UInt8] = [0x83, 0x86, 0x84, 0x01, 1, 0x78, 0x0f, 0x0d] + FramePeer.string(length)
    var whole: [UInt8] = []
    for stream in [1, 3, 5, 7] as [UInt32] {
      whole += Self.head(stream, block, 4) + FramePeer.frame(Kind.data, 1, stream, [1, 2, 3, 4, 5])
    }
    let streams = try receive(whole + Self.head(9, block, 4) + FramePeer.frame(Kind.data, 1, 9, [1, 2, 3]))
    #expect(streams.last?.hasEnded == false)
  }

  /// nghttp2 takes no new bytes of a client that has said good-bye and has no open streams.
  @Test func whatFollowsAGoodbyeIsReceivedAlike() throws {
    let goodbye = FramePeer.frame(7, 0, 0, FramePeer.number(0) + FramePeer.number(0))
    try receive(Self.head(1, Self.first) + Self.heads([3, 5, 7]) + goodbye + Self.heads([9, 11]))
    try receive(goodbye + Self.head(1, Self.first) + Self.heads([3, 5, 7, 9]))
  }

  /// nghttp2 refuses a second `host`, which it would take for the first after a stand-in, which has none.
  @Test(arguments: [true, false]) func aHostInTrailersIsTreatedAlike(_ isInHead: Bool) throws {
    let block = FramePeer.block(Self.request + (isInHead ? [("host", "x")] : [("a", "b")]))
    // Trailers make heads be forgotten.
    let streams = try receive(
      Self.heads([1, 3, 5, 7], block) + Self.head(9, block, 4) + FramePeer.frame(Kind.data, 0, 9, [1])
        + Self.head(9, FramePeer.block([("host", "y")]))
    )
    #expect(streams.last?.isRepeated != isInHead)
    #expect(streams.last?.hasEnded != isInHead)
  }

  @Test func theEndOfAStreamIsNotAPartOfItsHead() throws {
    let streams = try receive(
      Self.head(1, Self.first) + Self.heads([3, 5, 7]) + Self.heads([9], Self.indexed, 4)
        + FramePeer.frame(Kind.data, 0, 9, [1]) + FramePeer.frame(Kind.data, 1, 9, [2]) + Self.heads([11])
    )
    #expect(streams.suffix(3).allSatisfy { $0.isRepeated && $0.hasEnded })
    #expect(streams[4].received == [1, 2])
  }

  /// The block of a request is an error in the place of trailers, however often it came before.
  @Test func aHeadIsNotTakenForTrailers() throws {
    let streams = try receive(
      Self.head(1, Self.first) + Self.heads([3, 5, 7]) + Self.heads([9], Self.indexed, 4) + Self.heads([9])
    )
    #expect(streams.last?.hasEnded == false)
  }

  /// A block of trailers would be no head.
  @Test func trailersAreNotTakenForAHead() throws {
    let trailers = FramePeer.block([("a", "b")])
    var bytes: [UInt8] = []
    for stream in [1, 3, 5, 7] as [UInt32] {
      bytes += Self.head(stream, FramePeer.block(Self.request), 4)
      bytes += Self.head(stream, trailers)
    }
    let streams = try receive(bytes + Self.head(9, trailers))
    #expect(streams.count == 5 && streams.last?.hasEnded == false)
    #expect(streams[3].hasEnded)
  }

  @Test(arguments: [Int.max, 1, 100]) func aTraceParentAtTheEndIsNotAPartOfTheHead(in pieceSize: Int) throws {
    func trace(_ digit: Int) -> String { "00-4bf92f3577b34da6a3ce929d0e0e473\(digit)-00f067aa0ba902b7-01" }
    var bytes: [UInt8] = []
    for index in 0..<9 {
      var block = index == 0 ? Self.first : Self.indexed
      if index != 7 { block += FramePeer.block([("traceparent", trace(index))]) }
      bytes += Self.head(UInt32(2 * index + 1), block)
    }
    let streams = try receive(bytes, in: pieceSize, takesTraceParents: true)
    for (index, stream) in streams.enumerated() {
      #expect(stream.headers.contains("traceparent=" + trace(index)) == (index != 7))
      #expect(stream.headers.contains("a=b"))
      if pieceSize == .max { #expect(stream.isRepeated == (index >= 3)) }
    }
    try receive(bytes, in: pieceSize)
  }

  /// A caller of a proxy may choose the end of a request's last value.
  @Test func aTraceParentInsideAStringIsAPartOfTheHead() throws {
    let inner = FramePeer.block([("traceparent", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01")])
    let block = FramePeer.block(Self.request) + [0] + FramePeer.string("n") + FramePeer.string(inner)
    for blocks in [[block, FramePeer.block(Self.request)], [FramePeer.block(Self.request), block]] {
      let bytes = (0..<12).flatMap { Self.head(UInt32(2 * $0 + 1), blocks[$0 / 6]) }
      try receive(bytes, takesTraceParents: true)
      try receive(bytes)
    }
  }

  /// Heads near the limit of what is free are charged each time.
  @Test(arguments: 1200..<1206) func largeHeadsAreCharged(_ limit: Int) throws {
    // As large as the table makes it, and with few bytes.
    let large = Self.added("n", String(repeating: "v", count: 200))
    let blocks = [
      FramePeer.block(Self.request) + large, FramePeer.block(Self.request) + [0xbe, 0xbe, 0xbe, 0xbe],
    ]
    let size = Self.request.reduce(4 * 233) { $0 + $1.0.utf8.count + $1.1.utf8.count + 32 }
    let bytes = (0..<300).flatMap { Self.head(UInt32(2 * $0 + 1), blocks[min($0, 1)]) }
    for difference in [-3000, -1025, -1, 0, 98, 99, 100] {
      let streams = try receive(bytes, maxHeaderListSize: max(0, size + difference + limit - 1200))
      let isRepeated = streams.contains { $0.isRepeated }
      #expect(isRepeated == (difference + limit - 1200 >= SpanIdentity.listSize))
    }
  }

  @Test func aHeadThatItsStreamDoesNotKeepIsDecodedAgain() throws {
    var options = Reception.Options(keepsHeads: false)
    options.maxHeaderListSize = 1000
    let streams = try Reception(of: [Self.head(1, Self.first) + Self.heads([3, 5, 7, 9])], options).streams
    #expect(streams.allSatisfy { !$0.isRepeated && $0.headers.contains("a=b") })
  }

  /// A connection that nobody uses keeps no heads.
  @Test func aPackedSessionForgets() throws {
    var settings = SessionSettings()
    settings.takesShortcuts = true
    let session = try #require(Session(.server, settings: settings, memory: BlockPool()))
    let peer = StubPeer()
    session.delegate = peer
    func receive(_ bytes: [UInt8]) { #expect(bytes.withUnsafeBytes { session.receive($0, now: 1) } == nil) }
    receive(Reception.greeting + Self.head(1, Self.first) + Self.heads([3, 5, 7]))
    #expect(peer.streams.last?.isRepeated == true)
    session.pack()
    receive(Self.heads([9, 11, 13]))
    #expect(peer.streams.suffix(3).map(\.isRepeated) == [false, false, true])
    #expect(peer.streams.allSatisfy { $0.headers.contains("a=b") })
    session.connectionDidClose()
  }
}
