import CallTestSupport
import HTTP2TestSupport
import SwitchboardCall
import TestSupport
import Testing

@testable import SwitchboardNetwork
@testable import SwitchboardTransport

/// Hostile servers: each call ends once, with a status, and nothing grows.
@Suite(.mayBlock, .timeLimit(.minutes(5))) struct HostileServerTests {
  private typealias Kind = FramePeer.Kind

  struct Attack: Sendable, CustomTestStringConvertible {
    let name: String
    let code: GRPCStatus.Code
    var abuse: PeerAbuse?
    /// The bytes that the server sends after the request, in one piece and repeatedly.
    var once: [UInt8] = []
    var often: [UInt8] = []
    var testDescription: String { name }
  }

  private static let head = [(":status", "200"), ("content-type", "application/grpc")]
  private static let response = FramePeer.frame(Kind.headers, 4, 1, FramePeer.block(head))

  private static func trailers(_ fields: [(String, String)]) -> [UInt8] {
    FramePeer.frame(Kind.headers, 5, 1, FramePeer.block(fields))
  }

  private static let attacks: [Attack] = [
    Attack(
      name: "settings",
      code: .unavailable,
      abuse: .settingsFlood,
      often: FramePeer.frame(Kind.settings, 0, 0, [])
    ),
    Attack(
      name: "pings",
      code: .unavailable,
      abuse: .pingFlood,
      often: FramePeer.frame(Kind.ping, 0, 0, [0, 0, 0, 0, 0, 0, 0, 0])
    ),
    Attack(
      name: "windows",
      code: .unavailable,
      abuse: .windowUpdateFlood,
      often: FramePeer.frame(Kind.windowUpdate, 0, 0, [0, 0, 0, 1])
    ),
    Attack(
      name: "informational headers",
      code: .unavailable,
      abuse: .informationFlood,
      often: FramePeer.frame(Kind.headers, 4, 1, FramePeer.block([(":status", "103")]))
    ),
    Attack(
      name: "empty data",
      code: .unavailable,
      abuse: .emptyDataFlood,
      once: response,
      often: FramePeer.frame(Kind.data, 0, 1, [])
    ),
    Attack(
      name: "continuations",
      code: .unavailable,
      abuse: .continuationFlood,
      once: FramePeer.frame(Kind.headers, 0, 1, FramePeer.block(head)),
      often: FramePeer.frame(Kind.continuation, 0, 1, [])
    ),
    Attack(
      name: "unknown frames",
      code: .unavailable,
      abuse: .unknownFrameFlood,
      often: FramePeer.frame(200, 0, 0, [])
    ),
    Attack(
      name: "a bomb of headers",
      code: .unavailable,
      abuse: .headerBomb,
      once: FramePeer.frame(Kind.headers, 4, 1, HeaderAttackTests.bomb(head, count: 10_000))
    ),
    Attack(
      name: "large headers",
      code: .resourceExhausted,
      abuse: .headersTooLarge,
      once: FramePeer.frame(Kind.headers, 4, 1, HeaderAttackTests.bomb(head, count: 10))
    ),
    Attack(
      name: "large trailers",
      code: .resourceExhausted,
      abuse: .headersTooLarge,
      once: response
        + FramePeer.frame(Kind.headers, 5, 1, HeaderAttackTests.bomb([("grpc-status", "0")], count: 10))
    ),
    Attack(
      name: "a length that lies",
      code: .resourceExhausted,
      abuse: .messageTooLarge,
      once: response + FramePeer.frame(Kind.data, 0, 1, [0, 255, 255, 255, 255])
    ),
    Attack(
      name: "a message that breaks off",
      code: .internalError,
      once: response + FramePeer.frame(Kind.data, 0, 1, [0, 0, 0, 0, 9, 1]) + trailers([("grpc-status", "0")])
    ),
    Attack(
      name: "flags that nobody knows",
      code: .internalError,
      abuse: .brokenFraming,
      once: response + FramePeer.frame(Kind.data, 0, 1, [77, 0, 0, 0, 0])
    ),
    Attack(
      name: "damaged compression",
      code: .internalError,
      abuse: .brokenCompression,
      once: FramePeer.frame(Kind.headers, 4, 1, FramePeer.block(head + [("grpc-encoding", "gzip")]))
        + FramePeer.frame(Kind.data, 0, 1, [1, 0, 0, 0, 3, 1, 2, 3])
    ),
    Attack(
      name: "compression that is damaged at its end",
      code: .internalError,
      abuse: .brokenCompression,
      once: FramePeer.frame(Kind.headers, 4, 1, FramePeer.block(head + [("grpc-encoding", "gzip")]))
        + FramePeer.frame(Kind.data, 0, 1, MessageAttackTests.damaged) + trailers([("grpc-status", "0")])
    ),
    Attack(
      name: "a compressed bomb",
      code: .resourceExhausted,
      abuse: .decompressionBomb,
      once: FramePeer.frame(Kind.headers, 4, 1, FramePeer.block(head + [("grpc-encoding", "gzip")]))
        + FramePeer.frame(Kind.data, 0, 1, MessageAttackTests.zeros(8 << 20))
        + trailers([("grpc-status", "0")])
    ),
    Attack(
      name: "a compressed message too many",
      code: .unimplemented,
      abuse: .brokenFraming,
      once: FramePeer.frame(Kind.headers, 4, 1, FramePeer.block(head + [("grpc-encoding", "gzip")]))
        + FramePeer.frame(Kind.data, 0, 1, MessageAttackTests.zeros(1000) + MessageAttackTests.zeros(1000))
        + trailers([("grpc-status", "0")])
    ),
    Attack(
      name: "a promise",
      code: .unavailable,
      abuse: .protocolViolation,
      once: FramePeer.frame(Kind.settings, 1, 0, [])
        + FramePeer.frame(Kind.pushPromise, 4, 1, [0, 0, 0, 2] + FramePeer.block(FramePeer.call("Get")))
    ),
    Attack(
      name: "data before headers",
      code: .unavailable,
      abuse: .protocolViolation,
      once: FramePeer.frame(Kind.data, 1, 1, [0, 0, 0, 0, 0])
    ),
    Attack(
      name: "headers for a stream that nobody opened",
      code: .unavailable,
      abuse: .protocolViolation,
      once: FramePeer.frame(Kind.headers, 4, 7, FramePeer.block(head))
    ),
    Attack(
      name: "a broken block of headers",
      code: .unavailable,
      abuse: .protocolViolation,
      once: FramePeer.frame(Kind.headers, 4, 1, [0xff, 0xff, 0xff, 0xff, 0x0f])
    ),
    Attack(
      name: "a frame above our limit",
      code: .unavailable,
      abuse: .protocolViolation,
      once: [0xff, 0xff, 0xff, 0, 0, 0, 0, 0, 1]
    ),
    Attack(
      name: "HTTP/1.1",
      code: .unavailable,
      abuse: .protocolViolation,
      once: Array("HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n".utf8)
    ),
  ]

  @Test(arguments: attacks) func anAttackEndsTheCall(_ attack: Attack) async throws {
    let (status, abuses) = try await respond { peer in
      peer.raw.send(attack.once)
      guard !attack.often.isEmpty else { return }
      let batch = (0..<1000).flatMap { _ in attack.often }
      for _ in 0..<100 { guard peer.raw.send(batch) else { return } }
    }
    #expect(status?.code == attack.code)
    #expect(abuses == (attack.abuse.map { [$0: 1] } ?? [:]))
  }

  @Test(
    arguments: [
      ("%", "%"), ("%4", "%4"), ("%zz", "%zz"), ("100%25", "100%"), ("%41%", "A%"), ("%%41", "%A"),
      ("%ff%fe", "\u{fffd}\u{fffd}"), ("%00", "\u{fffd}"), ("%1b[31mred%0a%09", "\u{fffd}[31mred\n\t"),
      ("a%0db", "a\u{fffd}b"), ("%C3%BC", "ü"), ("a%0d%0ab", "a\r\nb"), ("", ""),
      ("%2525", "%25"), ("%f0%9f%98%80", "\u{1F600}"), ("%+1", "%+1"), (" spaces ", " spaces "),
    ]
  )
  func statusMessagesAreDecodedSafely(_ sample: (sent: String, text: String)) async throws {
    let (status, _) = try await respond { peer in
      peer.raw.send(Self.trailers(Self.head + [("grpc-status", "9"), ("grpc-message", sample.sent)]))
    }
    #expect(status?.code == .failedPrecondition)
    #expect(status?.message == sample.text)
  }

  @Test(arguments: ["", "-1", "17", "00000000000000000005", "5x", "4294967296", "0x5"])
  func invalidStatusesAreUnknown(_ code: String) async throws {
    let (status, _) = try await respond { peer in
      peer.raw.send(Self.trailers(Self.head + [("grpc-status", code)]))
    }
    #expect(status?.code == .unknown)
  }

  /// Whoever looks at one of them takes the call for a success.
  @Test(arguments: [["13", "0"], ["0", "13"], ["0", "0"], ["0", "0", "0"]])
  func severalStatusesAreUnknown(_ codes: [String]) async throws {
    let (status, _) = try await respond { peer in
      peer.raw.send(Self.response + FramePeer.frame(Kind.data, 0, 1, [0, 0, 0, 0, 0]))
      peer.raw.send(Self.trailers(codes.map { ("grpc-status", $0) }))
    }
    #expect(status?.code == .unknown)
    #expect(status?.message == "the response has more than one grpc-status")
  }

  @Test func severalContentTypesAreNone() async throws {
    let (status, _) = try await respond { peer in
      let head = Self.head + [("content-type", "application/grpc")]
      peer.raw.send(FramePeer.frame(Kind.headers, 4, 1, FramePeer.block(head)))
    }
    #expect(status?.code == .unknown)
  }

  @Test func theReasonOfAGoAwayIsHarmless() async throws {
    let (status, _) = try await respond { peer in
      peer.send(Kind.goAway, 0, 0, [0, 0, 0, 1, 0, 0, 0, 2] + Array("\u{1b}[2Jwhy\u{9b}\0".utf8))
      peer.raw.endSending()
    }
    #expect(
      status?.message?.contains("\u{fffd}[2Jwhy\u{fffd}\u{fffd}") == true,
      "\(String(describing: status))"
    )
  }

  @Test func endlessHeadersFailTheCall() async throws {
    try await HostileListener.with { hostile async throws in
      let transport = try #require(hostile.channel.transport as? HTTP2ClientTransport)
      let call = hostile.call()
      let peer = hostile.listener.accept()
      _ = peer.next(Kind.data)
      peer.send(Kind.headers, 0, 1, FramePeer.block(Self.head))
      await transport.loop.until { transport.connections.contains { $0.http2?.isInsideHeaders == true } }
      await transport.loop.advance(by: .seconds(21))
      #expect(await status { _ = try await call.value }?.code == .unavailable)
      #expect(hostile.abuses.counts == [.slowHeaders: 1])
    }
  }

  /// How a call ends whose server responds like this, and what the client noticed.
  private func respond(
    _ attack: @escaping @Sendable (FramePeer) -> Void
  ) async throws -> (status: GRPCStatus?, abuses: [PeerAbuse: Int]) {
    try await HostileListener.with { hostile async throws in
      let call = hostile.call()
      let peer = hostile.listener.accept()
      _ = peer.next(Kind.data)
      attack(peer)
      return (await status { _ = try await call.value }, hostile.abuses.counts)
    }
  }
}
