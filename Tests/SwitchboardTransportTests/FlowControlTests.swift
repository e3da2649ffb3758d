import CallTestSupport
import HTTP2TestSupport
import ServerTestSupport
import SwitchboardCall
import SwitchboardNetwork
import SwitchboardTransport
import TestSupport
import Testing

/// Windows that adapt to the link, as a peer sees them, and readers that do not read.
@Suite(.mayBlock, .timeLimit(.minutes(5))) struct FlowControlTests {
  private typealias Kind = FramePeer.Kind

  private func with(maxWindow: Int, _ body: (FramePeer, TestPair, Loop) async throws -> Void) async throws {
    var options = ServerOptions()
    options.streamLookahead = 100_000
    options.connectionWindow = 120_000
    options.maxWindow = maxWindow
    let group = try LoopGroup()
    try await TestPair.with(server: options, serverGroup: group) { pair async throws in
      let peer = try FramePeer(pair.address)
      peer.headers(1, FramePeer.request("/test.Test/Collect"))
      try await body(peer, pair, group.loops[0])
    }
  }

  /// A message in frames of the default size.
  private func send(_ count: Int, to peer: FramePeer) {
    var rest = ([0, 0] + [UInt8(count >> 16), UInt8(count >> 8 & 255), UInt8(count & 255)])[...]
    rest += [UInt8](repeating: 7, count: count)
    while !rest.isEmpty {
      peer.data(1, Array(rest.prefix(16_000)))
      rest = rest.dropFirst(16_000)
    }
  }

  /// Sends nearly a window while the ping that measures the link is in flight.
  private func fillWindow(_ peer: FramePeer, _ loop: Loop) async throws {
    send(30_000, to: peer)
    let ping = try #require(peer.next(Kind.ping))
    #expect(ping.flags == 0)
    send(69_000, to: peer)
    peer.send(Kind.ping, 0, 0, [1, 2, 3, 4, 5, 6, 7, 8])
    #expect(peer.next(Kind.ping)?.flags == 1)
    await loop.advance(by: .milliseconds(20))
    peer.send(Kind.ping, 1, 0, ping.payload)
  }

  @Test func aWindowThatLimitsTheLinkTwiceGrows() async throws {
    try await with(maxWindow: 1_000_000) { peer, _, loop async throws in
      try await fillWindow(peer, loop)
      try await fillWindow(peer, loop)
      let settings = try #require(peer.next(Kind.settings))
      let window = settings.payload.suffix(4).reduce(0) { $0 << 8 | Int($1) }
      #expect(Array(settings.payload.prefix(2)) == [0, 4])
      #expect(window >= 138_000 && window <= 200_000)
      let update = try #require(peer.next(Kind.windowUpdate))
      #expect(update.stream == 0)
    }
  }

  @Test func anIdleConnectionIsNotMeasured() async throws {
    try await with(maxWindow: 1_000_000) { peer, _, loop async throws in
      send(30_000, to: peer)
      let ping = try #require(peer.next(Kind.ping))
      peer.send(Kind.ping, 1, 0, ping.payload)
      for _ in 0..<10 { await loop.advance(by: .seconds(60)) }
      peer.send(Kind.ping, 0, 0, [1, 2, 3, 4, 5, 6, 7, 8])
      #expect(peer.next(Kind.ping)?.flags == 1)
    }
  }

  @Test func fixedWindowsAreNeverMeasured() async throws {
    try await with(maxWindow: 0) { peer, _, _ async throws in
      send(90_000, to: peer)
      peer.send(Kind.ping, 0, 0, [1, 2, 3, 4, 5, 6, 7, 8])
      #expect(peer.next(Kind.ping)?.flags == 1)
    }
  }

  @Test(arguments: Wire.allCases) func aSlowHandlerStopsTheClient(_ wire: Wire) async throws {
    var server = ServerOptions()
    server.streamBufferSize = 64 * 1024
    server.streamLookahead = 128 * 1024
    try await TestPair.with(wire, server: server) { pair async throws in
      let written = Counter()
      let endless = AsyncStream<[UInt8]> {
        written.add(10_000)
        return [UInt8](repeating: 0, count: 10_000)
      }
      let call = Task { try await pair.caller.collect(TestService.sleep, endless) }
      // Other calls continue. By the time this many have completed, an unlimited writer would have written far more.
      for _ in 0..<1000 { _ = try await pair.get() }
      // The window and both sides' buffers.
      #expect(written.value < 700_000)
      call.cancel()
      #expect(await status { _ = try await call.value }?.code == .cancelled)
    }
  }

  @Test func lateReadersReadEverything() async throws {
    var server = ServerOptions()
    server.streamBufferSize = 16 * 1024
    server.streamLookahead = 64 * 1024
    server.connectionWindow = 64 * 1024
    server.connectionBufferSize = 32 * 1024
    try await TestPair.with(server: server) { pair async throws in
      let calls = (0..<4).map { _ in
        Task {
          try await pair.collect(
            TestService.sleep,
            [[UInt8]](repeating: [UInt8](repeating: 1, count: 10_000), count: 100)
          )
        }
      }
      // No window is returned for unread data, and then all of it is.
      pair.service.released.fire()
      for call in calls { #expect(try await call.value == [100]) }
    }
  }
}
