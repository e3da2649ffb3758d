import HTTP2TestSupport
import SwitchboardCall
import SwitchboardNetwork
import SwitchboardTransport
import TestSupport
import Testing

/// Clients that abuse flow control.
@Suite(.mayBlock, .timeLimit(.minutes(5))) struct WindowGameTests {
  private typealias Kind = FramePeer.Kind

  @Test func aWindowOfOneByteDeliversTheWholeMessage() async throws {
    try await HostilePair.with { hostile async throws in
      let peer = try hostile.connect()
      peer.send(Kind.settings, 0, 0, [0, 4] + FramePeer.number(1))
      peer.headers(1, FramePeer.call("Get"))
      let message: [UInt8] = [0] + FramePeer.number(3000) + [UInt8](repeating: 7, count: 3000)
      peer.data(1, message, ends: true)
      var received: [UInt8] = []
      while received.count < message.count, let data = peer.next(Kind.data) {
        received += data.payload
        peer.send(Kind.windowUpdate, 0, 1, FramePeer.number(1))
      }
      #expect(received == message)
      // Slow as it is, this client does read.
      #expect(hostile.abuses.counts.isEmpty)
    }
  }

  @Test func aWindowThatNeverOpensKeepsBuffersBounded() async throws {
    try await HostilePair.with { hostile async throws in
      let peer = try hostile.connect()
      peer.send(Kind.settings, 0, 0, [0, 4] + FramePeer.number(0))
      for index in 0..<50 {
        peer.headers(UInt32(2 * index + 1), FramePeer.call("Flood"))
        peer.data(UInt32(2 * index + 1), [0, 0, 0, 0, 0], ends: true)
      }
      for _ in 0..<50 { #expect(peer.next(Kind.headers) != nil) }
      peer.send(Kind.ping, 0, 0, [1, 2, 3, 4, 5, 6, 7, 8])
      #expect(peer.next(Kind.ping) != nil)
      // Each call's writer stopped at its buffer of 256 KB.
      #expect(hostile.pair.service.flooded.value <= 50 * (256 * 1024 + 20_000))
    }
  }

  /// No response, whether complete or not, is kept for longer than its client waits for it.
  @Test(arguments: ["Get", "Flood"]) func aClosedWindowEndsTheCallAtItsDeadline(_ method: String)
    async throws
  {
    try await HostilePair.with { hostile async throws in
      let peer = try hostile.connect()
      peer.send(Kind.settings, 0, 0, [0, 4] + FramePeer.number(3))
      peer.headers(1, FramePeer.call(method, adding: [("grpc-timeout", "100S")]))
      peer.data(1, [0, 0, 0, 0, 1, 7], ends: true)
      #expect(peer.next(Kind.data)?.payload.count == 3)
      await hostile.loop.advance(by: .seconds(101))
      // A response in transit may still be sent.
      await hostile.loop.advance(by: .seconds(2))
      #expect(peer.next(Kind.resetStream)?.payload == [0, 0, 0, 8])
      await hostile.pair.server.untilNoCallIsOpen()
    }
  }

  @Test func aClientThatReadsNothingIsBounded() async throws {
    try await HostilePair.with { hostile async throws in
      let peer = try hostile.connect()
      peer.send(Kind.settings, 0, 0, [0, 4] + FramePeer.number(0x7fff_ffff))
      peer.send(Kind.windowUpdate, 0, 0, FramePeer.number(0x7000_0000))
      peer.headers(1, FramePeer.call("Flood"))
      peer.data(1, [0, 0, 0, 0, 0], ends: true)
      // The server still serves others, whose responses are read.
      for _ in 0..<200 { #expect(try await hostile.pair.get() == [1, 2, 3]) }
      // The buffers of the system and our own.
      #expect(hostile.pair.service.flooded.value < 32 << 20)
    }
  }

  @Test func endlessWindowChangesEndTheConnection() async throws {
    try await HostilePair.with { hostile async throws in
      let peer = try hostile.connect()
      for index in 0..<100 { peer.headers(UInt32(2 * index + 1), FramePeer.call("Deaf")) }
      let settings =
        FramePeer.frame(Kind.settings, 0, 0, [0, 4] + FramePeer.number(0))
        + FramePeer.frame(Kind.settings, 0, 0, [0, 4] + FramePeer.number(0x7fff_ffff))
      let batch = (0..<1000).flatMap { _ in settings }
      for _ in 0..<50 { peer.raw.send(batch) }
      #expect(peer.raw.readToEnd())
      await hostile.abuses.wait(for: .settingsFlood)
    }
  }

  @Test func tableSizeChangesAreAccepted() async throws {
    try await HostilePair.with { hostile async throws in
      let peer = try hostile.connect()
      // HPACK allows any number of size updates at the start of a block.
      let changes: [UInt8] = (0..<5000).flatMap { _ in [0x20, 0x3f, 0xe1, 0x1f] as [UInt8] }
      peer.send(Kind.headers, 5, 1, Array(changes.prefix(12_000)) + FramePeer.block(FramePeer.call("Get")))
      #expect(peer.nextHeaders() != nil)
    }
  }

  @Test func dataAboveTheWindowEndsTheConnection() async throws {
    try await HostilePair.with { hostile async throws in
      let peer = try hostile.connect()
      // The server's settings apply from here on.
      peer.send(Kind.settings, 1, 0, [])
      peer.headers(1, FramePeer.call("Deaf"))
      let message: [UInt8] = [0] + FramePeer.number(16_379) + [UInt8](repeating: 7, count: 16_379)
      // The window is a megabyte; nothing is read after the first 256 KB.
      for _ in 0..<100 { peer.data(1, message) }
      let end = try #require(peer.next(Kind.resetStream, or: Kind.goAway))
      #expect(end.payload.suffix(4) == [0, 0, 0, 3] || end.payload[7] == 3)
      await hostile.abuses.wait(for: .protocolViolation)
    }
  }
}

extension FramePeer {
  /// The next frame of one of two types.
  fileprivate func next(_ type: UInt8, or other: UInt8) -> Frame? {
    while let frame = next() {
      if frame.type == type || frame.type == other { return frame }
    }
    return nil
  }
}
