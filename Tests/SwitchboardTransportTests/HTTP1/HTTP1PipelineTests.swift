import HTTP2TestSupport
import SwitchboardCall
import TestSupport
import Testing

@testable import SwitchboardNetwork
@testable import SwitchboardTransport

/// Requests of HTTP/1.1 that arrive before the previous responses have left.
@Suite(.mayBlock, .timeLimit(.minutes(5))) struct HTTP1PipelineTests {
  private func with(_ body: (HTTP1Peer, TestPair) async throws -> Void) async throws {
    let group = try LoopGroup()
    await group.takeTime()
    try await TestPair.with(server: HTTP1Tests.options, serverGroup: group) { pair async throws in
      try await body(try HTTP1Peer(pair.address), pair)
      #expect(try await pair.get() == [1, 2, 3])
    }
  }

  private static func request(_ message: [UInt8], _ method: String = "Get") -> [UInt8] {
    let body = WebMessages.frame(message)
    return Array(HTTP1Peer.head(method, "", ["content-length: \(body.count)"]).utf8) + body
  }

  private static func numbered(_ range: Range<Int>) -> [UInt8] {
    range.flatMap { request([UInt8($0 / 256), UInt8($0 % 256)]) }
  }

  private static func expect(_ range: Range<Int>, from peer: HTTP1Peer) {
    for number in range {
      let answer = peer.answer()
      #expect(answer?.messages == [[UInt8(number / 256), UInt8(number % 256)]])
      #expect(answer?.trailers["grpc-status"] == "0")
      guard answer != nil else { return }
    }
  }

  /// They take one write, and so arrive in one piece.
  @Test func pipelinedRequestsAreAnsweredTogether() async throws {
    try await with { peer, _ async throws in
      peer.raw.send(Self.numbered(0..<1))
      let single = peer.raw.readSome().count
      for _ in 0..<20 {
        peer.raw.send(Self.numbered(0..<16))
        #expect(peer.raw.readSome().count == single * 16)
      }
    }
  }

  @Test func aClientThatHasEndedItsSideGetsAllResponses() async throws {
    try await with { _, pair async throws in
      for _ in 0..<5 {
        let peer = try HTTP1Peer(pair.address)
        peer.raw.send(Self.numbered(0..<50))
        peer.raw.endSending()
        Self.expect(0..<50, from: peer)
        #expect(peer.raw.readToEnd())
      }
    }
  }

  @Test(arguments: [1, 7, 100, 1000]) func requestsMayBeSplitAnywhere(_ size: Int) async throws {
    try await with { peer, _ async throws in
      let raw = peer.raw
      let sender = MayBlock.task {
        var rest = Self.numbered(0..<40)[...]
        while !rest.isEmpty, raw.send(Array(rest.prefix(size))) { rest = rest.dropFirst(size) }
      }
      Self.expect(0..<40, from: peer)
      await sender.value
    }
  }

  /// More than are kept, but their responses are ready at once.
  @Test func manyRequestsAreServedAsTheyCome() async throws {
    try await with { peer, pair async throws in
      let raw = peer.raw
      let all = Self.numbered(0..<4000)
      #expect(all.count > 400_000)
      let sender = MayBlock.task { _ = raw.send(all) }
      Self.expect(0..<4000, from: peer)
      await sender.value
      #expect(await pair.server.snapshot().calls.succeeded == 4000)
    }
  }

  @Test func laterRequestsWaitForASlowOne() async throws {
    try await with { peer, pair async throws in
      peer.raw.send(Self.numbered(0..<3) + Self.request([9], "Hang") + Self.numbered(3..<200))
      Self.expect(0..<3, from: peer)
      await pair.service.hanging.wait()
      #expect(await pair.server.snapshot().calls.started == 4)
      pair.service.cancelled.fire()
      #expect(peer.answer()?.messages == [[9]])
      Self.expect(3..<200, from: peer)
    }
  }

  /// Some responses are copied together, others are sent from where they are, or in pieces.
  @Test func responsesOfAllSizesKeepTheirOrder() async throws {
    try await with { peer, _ async throws in
      let sizes = [10, 300_000, 0, 5000, 70_000, 1, 20_000]
      let raw = peer.raw
      let messages = sizes.map { [UInt8](repeating: 7, count: $0) }
      let sender = MayBlock.task { _ = raw.send(messages.flatMap { Self.request($0) }) }
      for message in messages { #expect(peer.answer()?.messages == [message]) }
      await sender.value
    }
  }

  @Test func anInvalidRequestIsAnsweredInItsTurn() async throws {
    try await with { peer, _ async throws in
      peer.raw.send(
        Self.numbered(0..<5) + Array("GET / HTTP/1.1\r\nbad line\r\n\r\n".utf8) + Self.numbered(5..<9)
      )
      Self.expect(0..<5, from: peer)
      let refusal = peer.response()
      #expect(refusal?.status == "400")
      #expect(refusal?.fields["connection"] == "close")
      #expect(peer.raw.readToEnd())
    }
  }

  @Test func nothingIsServedAfterARequestThatCloses() async throws {
    try await with { peer, pair async throws in
      let last = HTTP1Peer.head("Get", "", ["content-length: 6", "connection: close"])
      peer.raw.send(Self.numbered(0..<2) + Array(last.utf8) + WebMessages.frame([8]) + Self.numbered(2..<9))
      Self.expect(0..<2, from: peer)
      let answer = try #require(peer.response())
      #expect(WebMessages(answer.body).messages == [[8]])
      #expect(answer.fields["connection"] == "close")
      #expect(peer.raw.readToEnd())
      #expect(await pair.server.snapshot().calls.started == 3)
    }
  }

  /// The rest of a request that came with others has as long as any other.
  @Test func anIncompleteHeadAfterOtherRequestsTimesOut() async throws {
    var options = HTTP1Tests.options
    options.handshakeTimeout = .milliseconds(50)
    try await TestPair.with(server: options) { pair async throws in
      let peer = try HTTP1Peer(pair.address)
      peer.raw.send(Self.numbered(0..<3) + Array("POST /test.Test/Get HTTP/1.1\r\nhost: a\r\n".utf8))
      Self.expect(0..<3, from: peer)
      #expect(peer.response()?.status == "408")
      #expect(peer.raw.readToEnd())
    }
  }

  /// A client that writes and does not read is not served further until it reads.
  @Test func aClientThatReadsNoResponsesIsNotServedFurther() async throws {
    let group = try LoopGroup()
    let loop = group.loops[0]
    try await TestPair.with(server: HTTP1Tests.options, serverGroup: group) { pair async throws in
      let peer = try HTTP1Peer(pair.address)
      let raw = peer.raw
      let message = [UInt8](repeating: 1, count: 20_000)
      let request = Self.request(message)
      let sender = MayBlock.task { for _ in 0..<2000 where !raw.send(request) { break } }
      let core = pair.server.core
      await loop.until { core.connections.contains { $0.socket.isWriting } }
      #expect(await pair.server.snapshot().calls.started < 2000)
      #expect(try await pair.get() == [1, 2, 3])
      var answered = 0
      while answered < 2000, peer.answer()?.messages == [message] { answered += 1 }
      #expect(answered == 2000)
      await sender.value
    }
  }
}
