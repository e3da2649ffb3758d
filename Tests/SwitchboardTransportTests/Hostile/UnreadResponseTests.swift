import HTTP2TestSupport
import SwitchboardCall
import TestSupport
import Testing

@testable import SwitchboardNetwork
@testable import SwitchboardTransport

/// Large responses that a client does not read while it makes other calls.
@Suite(.mayBlock, .timeLimit(.minutes(5))) struct UnreadResponseTests {
  private typealias Kind = FramePeer.Kind

  /// Calls wait as soon as 512 KiB wait for their client, besides the oldest response.
  private static var options: ServerOptions {
    var options = WireProtocolTests.server
    options.connectionBufferSize = 1 << 20
    options.streamBufferSize = 16 * 1024
    return options
  }

  private static let calls = 12
  private static let size = 60_000
  /// How many responses are too many together.
  private static let served = 10

  private func stream(_ number: Int) -> UInt32 { UInt32(2 * number + 1) }

  /// Makes calls that are answered with their requests, and opens no window for the responses.
  private func open(_ peer: FramePeer, _ contentType: String, more: [(String, String)] = []) {
    closeWindows(of: peer)
    for number in 0..<Self.calls { call(peer, number, contentType, more) }
  }

  private func closeWindows(of peer: FramePeer) {
    peer.send(Kind.settings, 0, 0, [0, 4] + FramePeer.number(0))
    peer.send(Kind.settings, 1, 0, [])
  }

  /// Makes a call whose request has `size` bytes. With `sent`, it sends only so many of them, and does not end the request.
  private func call(
    _ peer: FramePeer,
    _ number: Int,
    _ contentType: String = "application/grpc",
    _ more: [(String, String)] = [],
    size: Int = UnreadResponseTests.size,
    sent: Int? = nil
  ) {
    let prefix = contentType == "application/grpc" ? [0] + FramePeer.number(UInt32(size)) : []
    let headers = [
      (":method", "POST"), (":scheme", "http"), (":path", "/test.Test/Get"), (":authority", "test"),
      ("te", "trailers"), ("content-type", contentType),
    ]
    peer.headers(stream(number), headers + more)
    peer.data(stream(number), prefix)
    let count = sent ?? size
    for start in stride(from: 0, to: count, by: 15_000) {
      let piece = [UInt8](repeating: 7, count: min(15_000, count - start))
      peer.data(stream(number), piece, ends: sent == nil && start + piece.count == count)
    }
  }

  /// However large it is: its client may read it slowly. When it has been read, the next one is the oldest.
  @Test func oneLargeResponseHoldsUpNoOtherCall() async throws {
    var options = Self.options
    options.connectionBufferSize = 100_000
    try await HostilePair.with(.ipv4, options) { hostile async throws in
      let peer = try hostile.connect()
      closeWindows(of: peer)
      for number in 0..<2 {
        call(peer, number)
        #expect(peer.nextHeaders()?.fields[":status"] == "200")
      }
      // Two are more than half of the buffer, besides the oldest.
      call(peer, 2)
      try #require(peer.settle())
      #expect(await unread(hostile) < 3 * Self.size)
      peer.send(Kind.resetStream, 0, stream(0), FramePeer.number(8))
      #expect(peer.nextHeaders()?.fields[":status"] == "200")
      peer.send(Kind.resetStream, 0, stream(1), FramePeer.number(8))
      call(peer, 3)
      #expect(peer.nextHeaders()?.fields[":status"] == "200")
      #expect(hostile.abuses.counts.isEmpty)
    }
  }

  private func unread(_ hostile: HostilePair) async -> Int {
    await hostile.loop.onLoop {
      hostile.pair.server.core.connections.map { $0.unread.byteCount }.max() ?? 0
    }
  }

  @Test(arguments: ["application/grpc", "application/proto"])
  func callsWaitUntilTheResponsesOfOthersAreRead(_ contentType: String) async throws {
    try await HostilePair.with(.ipv4, Self.options) { hostile async throws in
      let peer = try hostile.connect()
      open(peer, contentType)
      for _ in 0..<Self.served { #expect(peer.nextHeaders()?.fields[":status"] == "200") }
      try #require(peer.settle())
      let kept = await unread(hostile)
      #expect((Self.served * Self.size...Self.served * (Self.size + 5)).contains(kept))
      // All is served once the client reads.
      peer.send(Kind.windowUpdate, 0, 0, FramePeer.number(1 << 20))
      var received = 0
      for number in 0..<Self.calls {
        peer.send(Kind.windowUpdate, 0, stream(number), FramePeer.number(100_000))
        while received < (number + 1) * Self.size {
          received += try #require(peer.next(Kind.data)).payload.count
        }
      }
      try #require(peer.settle())
      #expect(await unread(hostile) == 0)
      #expect(hostile.abuses.counts.isEmpty)
    }
  }

  @Test func callsThatWaitForTooLongAreRefused() async throws {
    try await HostilePair.with(.ipv4, Self.options) { hostile async throws in
      let peer = try hostile.connect()
      open(peer, "application/grpc")
      for _ in 0..<Self.served { #expect(peer.nextHeaders()?.fields[":status"] == "200") }
      try #require(peer.settle())
      await hostile.loop.advance(by: .seconds(121))
      for _ in Self.served..<Self.calls {
        let fields = try #require(peer.nextHeaders()).fields
        #expect(fields["grpc-status"] == "8")
        #expect(fields["grpc-message"]?.contains("connectionBufferSize") == true)
      }
      #expect(hostile.abuses.counts == [.unreadResponses: Self.calls - Self.served])
      // The others may still be read.
      peer.send(Kind.windowUpdate, 0, 1, FramePeer.number(100_000))
      #expect(peer.next(Kind.data) != nil)
    }
  }

  /// Their requests count as those that are not whole, and nothing is kept of one that is refused.
  @Test(arguments: ["application/grpc", "application/proto"])
  func requestsOfCallsThatWaitAreBounded(_ contentType: String) async throws {
    let size = 70_000
    let (served, waiting, refused) = (9, 7, 6)
    try await HostilePair.with(.ipv4, Self.options) { hostile async throws in
      let peer = try hostile.connect()
      closeWindows(of: peer)
      for number in 0..<served + waiting + refused { call(peer, number, contentType, size: size) }
      var statuses: [String: Int] = [:]
      for _ in 0..<served + refused {
        let fields = try #require(peer.nextHeaders()).fields
        statuses[fields["grpc-status"] ?? fields[":status"] ?? "", default: 0] += 1
      }
      #expect(statuses == ["200": served, contentType == "application/grpc" ? "8" : "429": refused])
      #expect(hostile.abuses.counts == [.messageTooLarge: refused])
      try #require(peer.settle())
      let kept = await kept(hostile)
      #expect((waiting * size...waiting * (size + 100)).contains(kept.counted))
      #expect(kept.counted == kept.requests)
      await hostile.loop.advance(by: .seconds(121))
      for _ in 0..<waiting { _ = try #require(peer.nextHeaders()) }
      let left = await self.kept(hostile)
      #expect(left.counted == 0 && left.requests == 0)
      #expect(hostile.abuses.counts == [.messageTooLarge: refused, .unreadResponses: waiting])
    }
  }

  /// A client that keeps to its windows and reads loses no call: further requests wait within their windows until it has read.
  @Test(arguments: ["application/grpc", "application/proto"])
  func requestsWaitWithinTheirWindows(_ contentType: String) async throws {
    var options = Self.options
    (options.streamLookahead, options.maxWindow) = (100_000, 100_000)
    try await HostilePair.with(.ipv4, options) { hostile async throws in
      let peer = try hostile.connect()
      open(peer, contentType)
      for _ in 0..<Self.served { #expect(peer.nextHeaders()?.fields[":status"] == "200") }
      let later = Self.calls..<Self.calls + 4
      let size = 150_000
      for number in later { call(peer, number, contentType, size: size, sent: 99_000) }
      try #require(peer.settle())
      let kept = await kept(hostile).counted
      #expect((4 * 99_000...4 * 99_005).contains(kept))
      #expect(hostile.abuses.counts.isEmpty)
      #expect(await withheld(hostile, stream(later.upperBound - 1)) > 0)
      // They go on, one after the other, once the responses are read.
      peer.send(Kind.windowUpdate, 0, 0, FramePeer.number(1 << 24))
      for number in 0..<later.upperBound {
        peer.send(Kind.windowUpdate, 0, stream(number), FramePeer.number(1 << 20))
      }
      for number in later {
        while !Task.isCancelled, await withheld(hostile, stream(number)) > 0 { await Task.yield() }
        for count in [15_000, 15_000, 15_000, 6_000] {
          peer.data(stream(number), [UInt8](repeating: 7, count: count), ends: count == 6_000)
        }
      }
      await hostile.pair.server.untilNoCallIsOpen()
      #expect(hostile.abuses.counts.isEmpty)
    }
  }

  /// How many bytes the client of a call may not send again yet.
  private func withheld(_ hostile: HostilePair, _ stream: UInt32) async -> Int {
    await hostile.loop.onLoop {
      hostile.pair.server.core.connections.flatMap(\.callsInProgress)
        .filter { $0.id == Int32(stream) }.reduce(0) { $0 + $1.request.withheld }
    }
  }

  /// Whole messages whose requests do not end count, too.
  @Test func wholeMessagesOfRequestsThatDoNotEndAreBounded() async throws {
    try await HostilePair.with(.ipv4, Self.options) { hostile async throws in
      let peer = try hostile.connect()
      peer.send(Kind.settings, 1, 0, [])
      for number in 0..<20 { call(peer, number, size: 70_000, sent: 70_000) }
      let refused = try #require(peer.nextHeaders())
      #expect(refused.fields["grpc-status"] == "8")
      try #require(peer.settle())
      // The oldest one is not limited by the others.
      let kept = await kept(hostile)
      #expect(kept.counted == kept.requests && kept.counted <= 70_000 + 512 * 1024)
    }
  }

  /// What is counted of requests that wait, and what all streams keep of theirs.
  private func kept(_ hostile: HostilePair) async -> (counted: Int, requests: Int) {
    await hostile.loop.onLoop {
      hostile.pair.server.core.connections.reduce(into: (0, 0)) { sum, connection in
        sum.0 += connection.gathered.byteCount
        sum.1 += connection.callsInProgress.reduce(0) { $0 + $1.request.messages.single.byteCount }
      }
    }
  }

  @Test func aDeadlineSaysWhatItsCallWaitedFor() async throws {
    try await HostilePair.with(.ipv4, Self.options) { hostile async throws in
      let peer = try hostile.connect()
      open(peer, "application/grpc", more: [("grpc-timeout", "9S")])
      for _ in 0..<Self.served { #expect(peer.nextHeaders()?.fields[":status"] == "200") }
      try #require(peer.settle())
      await hostile.loop.advance(by: .seconds(10))
      let end = try #require(peer.nextHeaders()).fields
      #expect(end["grpc-status"] == "4")
      #expect(end["grpc-message"]?.contains("waited for the client to read") == true)
    }
  }

  /// A connection that breaks meanwhile begins none of the calls that wait, and keeps none.
  @Test func callsThatWaitEndWithTheirConnection() async throws {
    try await HostilePair.with(.ipv4, Self.options) { hostile async throws in
      let peer = try hostile.connect()
      open(peer, "application/grpc")
      for _ in 0..<Self.served { #expect(peer.nextHeaders()?.fields[":status"] == "200") }
      // One that waits is reset, and so is one that has its response.
      peer.send(Kind.resetStream, 0, stream(Self.calls - 1), FramePeer.number(8))
      peer.send(Kind.resetStream, 0, 1, FramePeer.number(8))
      try #require(peer.settle())
      #expect(peer.nextHeaders()?.fields[":status"] == "200")
      peer.raw.endSending()
      await hostile.pair.server.untilNoCallIsOpen()
    }
  }
}
