import HTTP2TestSupport
import SwitchboardCall
import SwitchboardNetwork
import SwitchboardTransport
import TestSupport
import Testing

/// Headers that are too many, too large, or deceptive.
@Suite(.mayBlock, .timeLimit(.minutes(5))) struct HeaderAttackTests {
  private typealias Kind = FramePeer.Kind

  /// A block that adds one large field to the table and then refers to it repeatedly with one byte each.
  static func bomb(_ request: [(String, String)], count: Int) -> [UInt8] {
    FramePeer.block(request) + [0x40] + FramePeer.string("x-bomb")
      + FramePeer.string(String(repeating: "b", count: 3900)) + [UInt8](repeating: 0xbe, count: count)
  }

  @Test func aHeaderBombEndsTheConnection() async throws {
    try await HostilePair.with { hostile async throws in
      let peer = try hostile.connect()
      peer.send(Kind.headers, 5, 1, Self.bomb(FramePeer.call("Get"), count: 10_000))
      #expect(peer.next(Kind.goAway)?.payload[7] == 11)
      #expect(peer.raw.readToEnd())
      #expect(hostile.abuses.counts == [.headerBomb: 1])
    }
  }

  @Test func headersAboveTheLimitAreRejected() async throws {
    try await HostilePair.with { hostile async throws in
      let peer = try hostile.connect()
      peer.send(Kind.headers, 5, 1, Self.bomb(FramePeer.call("Get"), count: 10))
      #expect(peer.nextHeaders()?.fields["grpc-status"] == "8")
      peer.headers(3, FramePeer.call("Get"))
      peer.data(3, [0, 0, 0, 0, 0], ends: true)
      #expect(peer.next(Kind.data)?.payload == [0, 0, 0, 0, 0])
      #expect(hostile.abuses.counts == [.headersTooLarge: 1])
    }
  }

  /// Each is rejected without being a bomb, but decoding it costs as much as one.
  @Test func repeatedHeadersAboveTheLimitEndTheConnection() async throws {
    try await HostilePair.with { hostile async throws in
      let peer = try hostile.connect()
      var refused = 0
      for index in 0..<1000 {
        peer.send(Kind.headers, 5, UInt32(2 * index + 1), Self.bomb(FramePeer.call("Get"), count: 60))
        guard peer.nextHeaders()?.fields["grpc-status"] == "8" else { break }
        refused += 1
      }
      #expect(peer.raw.readToEnd())
      // Each costs 240 units of the allowance, some of which is returned meanwhile.
      #expect(refused >= 4 && refused < 1000)
      let counts = hostile.abuses.counts
      #expect(counts[.headerBomb] == 1 && (counts[.headersTooLarge] ?? 0) >= refused)
    }
  }

  @Test func endlessHeadersEndTheConnection() async throws {
    try await HostilePair.with { hostile async throws in
      let peer = try hostile.connect()
      try await hostile.serveOthers(while: peer.raw) { socket in
        let fields = (0..<300).map { ("x-\($0)", String(repeating: "v", count: 30)) }
        socket.send(FramePeer.frame(Kind.headers, 1, 1, FramePeer.block(FramePeer.call("Get"))))
        let more = FramePeer.frame(Kind.continuation, 0, 1, FramePeer.block(fields))
        for _ in 0..<1000 { guard socket.send(more) else { return } }
      }
      #expect(peer.raw.readToEnd())
      let counts = hostile.abuses.counts
      #expect((counts[.continuationFlood] ?? 0) + (counts[.headerBomb] ?? 0) == 1)
    }
  }

  @Test func trailersAboveTheLimitAreNotKept() async throws {
    try await HostilePair.with { hostile async throws in
      let peer = try hostile.connect()
      peer.headers(1, FramePeer.call("Update"))
      // The handler has started by then.
      peer.data(1, [0, 0, 0, 0, 0])
      #expect(peer.next(Kind.data)?.payload == [0, 0, 0, 0, 0])
      peer.send(
        Kind.headers,
        5,
        1,
        [0x40] + FramePeer.string("x-bomb") + FramePeer.string(String(repeating: "b", count: 3900))
          + [UInt8](repeating: 0xbe, count: 40)
      )
      #expect(peer.nextHeaders()?.fields["grpc-status"] == "0")
    }
  }

  @Test(
    arguments: [
      [0xff, 0xfe, 0x80], [0xc0, 0xaf], [0xed, 0xa0, 0x80], [0xf5, 0x80, 0x80, 0x80], [0xe2, 0x82],
    ] as [[UInt8]]
  )
  func metadataThatIsNotTextIsAccepted(_ value: [UInt8]) async throws {
    try await HostilePair.with { hostile async throws in
      let peer = try hostile.connect()
      // The handler reads the values as text, and sends them back.
      let field = [0] + FramePeer.string("one") + FramePeer.string(value)
      peer.send(Kind.headers, 4, 1, FramePeer.block(FramePeer.call("Reflect")) + field)
      peer.data(1, [0, 0, 0, 0, 0], ends: true)
      #expect(peer.nextHeaders()?.fields[":status"] == "200")
      #expect(peer.nextHeaders()?.fields["grpc-status"] == "0")
    }
  }

  @Test(arguments: ["!!!!", "AAA=A", "====", "A", ",,,,", "AA AA", "\u{e9}"])
  func metadataThatIsNotBase64IsAccepted(_ value: String) async throws {
    try await HostilePair.with { hostile async throws in
      let peer = try hostile.connect()
      peer.headers(1, FramePeer.call("Get", adding: [("two-bin", value)]))
      peer.data(1, [0, 0, 0, 0, 0], ends: true)
      #expect(peer.nextHeaders()?.fields[":status"] == "200")
      #expect(peer.nextHeaders()?.fields["grpc-status"] == "0")
    }
  }

  /// The handler sends back what it received.
  @Test(arguments: ["!!!!", "AAA=A", "A", "\u{e9}"])
  func metadataThatIsNotBase64IsNotSentOn(_ value: String) async throws {
    try await HostilePair.with { hostile async throws in
      let peer = try hostile.connect()
      peer.headers(1, FramePeer.call("Reflect", adding: [("two-bin", value)]))
      peer.data(1, [0, 0, 0, 0, 0], ends: true)
      #expect(peer.nextHeaders()?.fields["grpc-status"] == "13")
    }
  }

  @Test(arguments: [
    "99999999H", "999999999H", "0S", "-1S", "1", "S", "1e3S", "18446744073709551616n", "\u{661}S",
  ])
  func timeoutsOfEveryFormAreAnswered(_ timeout: String) async throws {
    try await HostilePair.with { hostile async throws in
      let peer = try hostile.connect()
      peer.headers(1, FramePeer.call("Get", adding: [("grpc-timeout", timeout)]))
      peer.data(1, [0, 0, 0, 0, 0], ends: true)
      #expect(peer.nextHeaders()?.fields[":status"] == "200")
    }
  }

  @Test func aVeryLongPathIsUnimplemented() async throws {
    try await HostilePair.with { hostile async throws in
      let peer = try hostile.connect()
      let path = "/test.Test/" + String(repeating: "Get/../", count: 1500)
      var fields = FramePeer.call("Get")
      fields[2].1 = path
      peer.headers(1, fields, ends: true)
      #expect(peer.nextHeaders()?.fields["grpc-status"] == "12")
    }
  }
}
