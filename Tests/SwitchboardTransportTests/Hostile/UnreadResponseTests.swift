import HTTP2TestSupport
import SwitchboardCall
import TestSupport
import Testing

@testable import SwitchboardNetwork
@testable import SwitchboardTransport

/// Large responses that a client does not read while it makes other calls.
@Suite(.mayBlock, .timeLimit(.minutes(5))) struct UnreadResponseTests {
  private typealias Kind = FramePeer.Kind

  /// Calls wait as soon as 256 KiB wait for their client.
  private static var options: ServerOptions {
    var options = WireProtocolTests.server
    options.connectionBufferSize = 1 << 20
    options.streamBufferSize = 16 * 1024
    return options
  }

  private static let calls = 12
  private static let size = 60_000
  /// How many responses are too many together.
  private static let served = 5

  private func stream(_ number: Int) -> UInt32 { UInt32(2 * number + 1) }

  /// Makes calls that are answered with their requests, and opens no window for the responses.
  private func open(_ peer: FramePeer, _ contentType: String, more: [(String, String)] = []) {
    peer.send(Kind.settings, 0, 0, [0, 4] + FramePeer.number(0))
    peer.send(Kind.settings, 1, 0, [])
    let prefix = contentType == "application/grpc" ? [0] + FramePeer.number(UInt32(Self.size)) : []
    for number in 0..<Self.calls {
      let headers = [
        (":method", "POST"), (":scheme", "http"), (":path", "/test.Test/Get"), (":authority", "test"),
        ("te", "trailers"), ("content-type", contentType),
      ]
      peer.headers(stream(number), headers + more)
      peer.data(stream(number), prefix)
      for piece in 0..<4 {
        peer.data(stream(number), [UInt8](repeating: 7, count: Self.size / 4), ends: piece == 3)
      }
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
