import HTTP2TestSupport
import ServerTestSupport
import SwitchboardCall
import SwitchboardNetwork
import SwitchboardTransport
import TestSupport
import Testing

/// Clients that send cheap frames without end.
@Suite(.mayBlock, .timeLimit(.minutes(5))) struct FloodTests {
  private typealias Kind = FramePeer.Kind

  struct Flood: Sendable, CustomTestStringConvertible {
    let abuse: PeerAbuse
    /// The frames before the flood: a call that the frames belong to.
    var opening: [UInt8] = []
    let frame: [UInt8]
    var testDescription: String { abuse.rawValue }
  }

  private static let ping = [UInt8](repeating: 0, count: 8)
  private static let call = FramePeer.frame(Kind.headers, 4, 1, FramePeer.block(FramePeer.call("Deaf")))

  private static let floods: [Flood] = [
    Flood(abuse: .settingsFlood, frame: FramePeer.frame(Kind.settings, 0, 0, [])),
    Flood(abuse: .pingFlood, frame: FramePeer.frame(Kind.ping, 0, 0, ping)),
    Flood(abuse: .pingFlood, frame: FramePeer.frame(Kind.ping, 1, 0, ping)),
    Flood(abuse: .priorityFlood, frame: FramePeer.frame(Kind.priority, 0, 3, [0, 0, 0, 0, 15])),
    Flood(abuse: .windowUpdateFlood, frame: FramePeer.frame(Kind.windowUpdate, 0, 0, [0, 0, 0, 1])),
    Flood(
      abuse: .windowUpdateFlood,
      opening: call,
      frame: FramePeer.frame(Kind.windowUpdate, 0, 1, [0, 0, 0, 1])
    ),
    Flood(abuse: .emptyDataFlood, opening: call, frame: FramePeer.frame(Kind.data, 0, 1, [])),
    // Data of which everything is padding.
    Flood(abuse: .emptyDataFlood, opening: call, frame: FramePeer.frame(Kind.data, 8, 1, [0])),
    Flood(abuse: .emptyDataFlood, opening: call, frame: FramePeer.frame(Kind.data, 8, 1, [3, 0, 0, 0])),
    Flood(
      abuse: .continuationFlood,
      opening: FramePeer.frame(Kind.headers, 0, 1, FramePeer.block(FramePeer.call("Get"))),
      frame: FramePeer.frame(Kind.continuation, 0, 1, [])
    ),
    Flood(abuse: .unknownFrameFlood, frame: FramePeer.frame(200, 0, 0, [])),
    Flood(
      abuse: .rapidReset,
      opening: call + FramePeer.frame(Kind.resetStream, 0, 1, [0, 0, 0, 8]),
      frame: FramePeer.frame(Kind.resetStream, 0, 1, [0, 0, 0, 8])
    ),
  ]

  @Test(arguments: floods) func aFloodEndsTheConnection(_ flood: Flood) async throws {
    try await HostilePair.with { hostile async throws in
      let peer = try hostile.connect()
      peer.raw.send(flood.opening)
      let batch = (0..<1000).flatMap { _ in flood.frame }
      for _ in 0..<100 { guard peer.raw.send(batch) else { break } }
      // A server that accepted all of it would answer this.
      #expect(!peer.settle())
      #expect(hostile.abuses.counts == [flood.abuse: 1])
    }
  }

  @Test func aClientGetsEnhanceYourCalm() async throws {
    var options = ServerOptions()
    options.controlFrameAllowance = 50
    try await HostilePair.with(.ipv4, options) { hostile async throws in
      let peer = try hostile.connect()
      var sent = 0
      // One frame at a time, each acknowledged, so that the GOAWAY is not lost in the flood.
      repeat {
        peer.send(Kind.settings, 0, 0, [])
        sent += 1
      } while peer.next(Kind.settings, or: Kind.goAway)?.type == Kind.settings && sent < 10_000
      #expect(sent >= 49)
      #expect(hostile.abuses.counts == [.settingsFlood: 1])
    }
  }

  @Test func rapidResetsEndTheConnection() async throws {
    try await HostilePair.with { hostile async throws in
      let peer = try hostile.connect()
      try await hostile.serveOthers(while: peer.raw) { socket in
        let block = FramePeer.block(FramePeer.call("Hang"))
        for stream in stride(from: UInt32(1), to: 200_000, by: 2) {
          let isTaken = socket.send(
            FramePeer.frame(Kind.headers, 4, stream, block)
              + FramePeer.frame(Kind.resetStream, 0, stream, [0, 0, 0, 8])
          )
          guard isTaken else { return }
        }
      }
      #expect(peer.raw.readToEnd())
      await hostile.abuses.wait(for: .rapidReset)
    }
  }

  @Test func provokedResetsEndTheConnection() async throws {
    try await HostilePair.with { hostile async throws in
      let peer = try hostile.connect()
      try await hostile.serveOthers(while: peer.raw) { socket in
        let block = FramePeer.block(FramePeer.call("Hang"))
        for stream in stride(from: UInt32(1), to: 200_000, by: 2) {
          let isTaken = socket.send(
            FramePeer.frame(Kind.headers, 4, stream, block)
              + FramePeer.frame(Kind.windowUpdate, 0, stream, [0, 0, 0, 0])
          )
          guard isTaken else { return }
        }
      }
      #expect(peer.raw.readToEnd())
      let counts = hostile.abuses.counts
      #expect((counts[.protocolViolation] ?? 0) > 0 && (counts[.protocolViolation] ?? 0) < 3000)
    }
  }

  @Test func manyCallsAndCancellationsAreNotAFlood() async throws {
    try await HostilePair.with { hostile async throws in
      let peer = try hostile.connect()
      let block = FramePeer.block(FramePeer.call("Flood"))
      let message: [UInt8] = [0, 0, 0, 0, 0]
      for stream in stride(from: UInt32(1), to: 6000, by: 2) {
        peer.raw.send(
          FramePeer.frame(Kind.headers, 4, stream, block) + FramePeer.frame(Kind.data, 1, stream, message)
        )
        #expect(peer.next(Kind.headers) != nil)
        peer.send(Kind.resetStream, 0, stream, [0, 0, 0, 8])
      }
      #expect(hostile.abuses.counts.isEmpty)
    }
  }

  @Test func unreadAnswersDoNotPileUp() async throws {
    var options = ServerOptions()
    // Only the missing reader should stop it.
    options.controlFrameAllowance = .max / 8
    options.minimumPingInterval = .zero
    try await HostilePair.with(.ipv4, options) { hostile async throws in
      let peer = try hostile.connect()
      let pings = (0..<1000).flatMap { _ in FramePeer.frame(Kind.ping, 0, 0, Self.ping) }
      try await hostile.serveOthers(while: peer.raw) { socket in
        for _ in 0..<2000 { guard socket.send(pings) else { return } }
      }
      await hostile.abuses.wait(for: .unreadAnswers)
    }
  }

  @Test func unreadRefusalsDoNotPileUp() async throws {
    var options = ServerOptions()
    options.controlFrameAllowance = .max / 8
    try await HostilePair.with(.ipv4, options) { hostile async throws in
      let peer = try hostile.connect()
      // Responses with large windows fill the socket.
      peer.send(Kind.settings, 0, 0, [0, 4] + FramePeer.number(0x7fff_ffff))
      peer.send(Kind.windowUpdate, 0, 0, FramePeer.number(0x7000_0000))
      let block = FramePeer.block(FramePeer.call("Flood"))
      for stream in stride(from: UInt32(1), to: 200, by: 2) {
        peer.send(Kind.headers, 4, stream, block)
        peer.data(stream, [0, 0, 0, 0, 0], ends: true)
      }
      try await hostile.serveOthers(while: peer.raw) { socket in
        for stream in stride(from: UInt32(201), to: 100_000, by: 2) {
          guard socket.send(FramePeer.frame(Kind.headers, 4, stream, block)) else { return }
        }
      }
      await hostile.abuses.wait(for: .unreadAnswers)
    }
  }
}

extension FramePeer {
  /// The next frame of one of two types.
  fileprivate func next(_ type: UInt8, or other: UInt8) -> Frame? {
    while let frame = next() {
      if frame.type == type && frame.flags & 1 == 1 || frame.type == other { return frame }
    }
    return nil
  }
}
