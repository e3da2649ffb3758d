import HTTP2TestSupport
import ServerTestSupport
import SwitchboardCall
import TestSupport
import Testing

@testable import SwitchboardNetwork
@testable import SwitchboardTransport

/// Hostile HTTP/1.1 clients of a server with gRPC-Web.
@Suite(.mayBlock, .timeLimit(.minutes(5))) struct HTTP1AttackTests {
  private func with(_ wire: Wire = .ipv4, _ body: (HostilePair, HTTP1Peer) async throws -> Void) async throws
  {
    try await HostilePair.with(wire, HTTP1Tests.options) { hostile async throws in
      try await body(hostile, try HTTP1Peer(hostile.pair.address))
    }
  }

  @Test(
    arguments: [
      (
        "POST /a HTTP/1.1\r\nhost: a\r\ncontent-length: 1\r\ntransfer-encoding: chunked\r\n\r\n", "400",
        .protocolViolation
      ),
      ("\u{0}\u{1}\u{2}\n", "400", .protocolViolation), ("GET / HTTP/1.0\r\n\r\n", "505", .protocolViolation),
      ("POST /" + String(repeating: "a", count: 30_000), "431", .headersTooLarge),
      ("POST / HTTP/1.1\r\n" + String(repeating: "a: b\r\n", count: 200), "431", .headersTooLarge),
    ] as [(String, String, PeerAbuse)]
  )
  func invalidRequestsAreAnsweredAndCounted(_ sample: (text: String, status: String, abuse: PeerAbuse))
    async throws
  {
    try await with { hostile, peer async throws in
      peer.send(sample.text)
      let response = try #require(peer.response())
      #expect(response.status == sample.status)
      #expect(response.fields["connection"] == "close")
      #expect(peer.raw.readToEnd())
      #expect(hostile.abuses.counts == [sample.abuse: 1])
    }
  }

  /// As from a client of HTTP/2 whose preface is broken.
  @Test func inputOtherThanHTTPIsNotAnswered() async throws {
    try await with { hostile, peer async throws in
      peer.send("INVALID CONNECTION PREFACE\r\n\r\n")
      #expect(peer.line() == nil)
      #expect(peer.raw.readToEnd())
      #expect(hostile.abuses.counts == [.protocolViolation: 1])
    }
  }

  @Test func headersAboveTheLimitAreRejected() async throws {
    try await with { hostile, peer async throws in
      peer.call("Get", [], adding: "long: " + String(repeating: "x", count: 17_000))
      #expect(peer.answer()?.trailers["grpc-status"] == "8")
      #expect(hostile.abuses.counts == [.headersTooLarge: 1])
    }
  }

  @Test(arguments: ["P", "POST /test", "POST /a HTTP/1.1\r\n", "POST /a HTTP/1.1\r\nhost: a\r\n"])
  func anEndlessHeadTimesOut(_ text: String) async throws {
    try await with { hostile, peer async throws in
      // A complete head ends the handshake timeout.
      if text != "P" {
        peer.call("Get", WebMessages.frame([1]))
        #expect(peer.response()?.status == "200")
      }
      peer.send(text)
      let server = hostile.pair.server
      if text != "P" {
        await hostile.loop.until { server.core.connections.contains { $0.http1?.isInsideHeaders == true } }
      } else {
        await hostile.loop.until { server.core.connectionCount == 2 }
      }
      await hostile.loop.advance(by: .seconds(21))
      if text != "P" { #expect(peer.response()?.status == "408") }
      #expect(peer.raw.readToEnd())
      await hostile.abuses.wait(for: text == "P" ? .handshakeTimeout : .slowHeaders)
    }
  }

  /// Each head has its own time, also if every read ends in the next one.
  @Test func headsThatFollowOneAnotherAreNotSlow() async throws {
    try await with { hostile, peer async throws in
      let request = Array(HTTP1Peer.head("Get", "", ["content-length: 6"]).utf8) + WebMessages.frame([1])
      peer.raw.send(request + request.prefix(20))
      for _ in 0..<4 {
        #expect(peer.answer()?.messages == [[1]])
        await hostile.loop.advance(by: .seconds(11))
        peer.raw.send(Array(request.dropFirst(20)) + request.prefix(20))
      }
      #expect(peer.answer()?.messages == [[1]])
      #expect(hostile.abuses.counts.isEmpty)
      await hostile.loop.advance(by: .seconds(21))
      #expect(peer.response()?.status == "408")
      await hostile.abuses.wait(for: .slowHeaders)
    }
  }

  @Test func anUnusedConnectionIsClosed() async throws {
    try await with { hostile, peer async throws in
      peer.call("Get", WebMessages.frame([1]))
      #expect(peer.response()?.status == "200")
      await hostile.loop.advance(by: .seconds(76))
      #expect(peer.raw.readToEnd())
      #expect(hostile.abuses.counts == [:])
    }
  }

  @Test func anEndlessBodyTimesOut() async throws {
    try await with { hostile, peer async throws in
      peer.send(HTTP1Peer.head("Get", "", ["content-length: 1000"]))
      let server = hostile.pair.server
      await hostile.loop.until { server.core.connections.contains { $0.http1 != nil } }
      await hostile.loop.advance(by: .seconds(121))
      #expect(peer.answer()?.trailers["grpc-status"] == "4")
      #expect(peer.raw.readToEnd())
      #expect(hostile.abuses.counts == [.slowRequest: 1])
    }
  }

  @Test func aPagesEndlessBodyTimesOut() async throws {
    var options = HTTP1Tests.options
    options.pages = [HTTPPage("POST", "/page") { _ in HTTPPage.Response(status: 204) }]
    try await HostilePair.with(.ipv4, options) { hostile async throws in
      let peer = try HTTP1Peer(hostile.pair.address)
      peer.send(ConnectPeer.head("POST", "/page", "text/plain", ["content-length: 1000"]))
      let server = hostile.pair.server
      await hostile.loop.until { server.core.connections.contains { $0.http1 != nil } }
      await hostile.loop.advance(by: .seconds(121))
      let response = try #require(peer.response())
      #expect(response.status == "408")
      #expect(response.fields["grpc-status"] == nil)
      #expect(peer.raw.readToEnd())
      #expect(hostile.abuses.counts == [.slowRequest: 1])
    }
  }

  @Test(arguments: ["Get", "Collect"]) func aBrokenBodyIsRejected(_ method: String) async throws {
    try await with { hostile, peer async throws in
      peer.send(HTTP1Peer.head(method, "", ["transfer-encoding: chunked"]) + "zz\r\n")
      #expect(peer.response()?.status == "400")
      #expect(peer.raw.readToEnd())
      #expect(hostile.abuses.counts == [.protocolViolation: 1])
    }
  }

  @Test func aTooLargeLengthPrefixIsRejected() async throws {
    try await with { hostile, peer async throws in
      peer.call("Get", [0, 0xff, 0xff, 0xff, 0xff, 1, 2])
      #expect(peer.answer()?.trailers["grpc-status"] == "8")
      #expect(hostile.abuses.counts == [.messageTooLarge: 1])
    }
  }

  @Test func tooManyPipelinedRequestsEndTheConnection() async throws {
    try await with { hostile, peer async throws in
      peer.call("Hang", WebMessages.frame([1]))
      await hostile.pair.service.hanging.wait()
      let raw = peer.raw
      try await hostile.serveOthers(while: raw) { raw in
        let request = Array(HTTP1Peer.head("Get", "", ["content-length: 6"]).utf8) + WebMessages.frame([2])
        for _ in 0..<10_000 where !raw.send(request) { break }
      }
      hostile.pair.service.cancelled.fire()
      #expect(peer.answer()?.messages == [[1]])
      #expect(peer.raw.readToEnd())
    }
  }

  /// A deadline ends a call at once, but not its handler.
  @Test func handlersThatOutliveTheirCallsDoNotPileUp() async throws {
    try await with { hostile, peer async throws in
      let body = WebMessages.frame([1])
      let head = HTTP1Peer.head("Stubborn", "", ["content-length: \(body.count)", "grpc-timeout: 1n"])
      var last: HTTP1Peer.Response?
      for _ in 0..<1000 {
        // In one piece, because a response that precedes the end of its request ends the connection.
        peer.raw.send(Array(head.utf8) + body)
        last = peer.response()
        guard last?.status == "200" else { break }
      }
      #expect(last?.status == "503")
      #expect(peer.raw.readToEnd())
      #expect(hostile.pair.service.stubborn.value == 200)
      #expect(hostile.abuses.counts == [.tooManyHandlers: 1])
      hostile.pair.service.released.fire()
    }
  }

  @Test func aClientThatReadsNothingIsBounded() async throws {
    try await with { hostile, peer async throws in
      peer.call("Flood", WebMessages.frame([1]))
      let flooded = hostile.pair.service.flooded
      await hostile.loop.until { flooded.value > 0 }
      for _ in 0..<20 { #expect(try await hostile.pair.get() == [1, 2, 3]) }
      // The buffers of the sockets and of a stream.
      #expect(flooded.value < 16 << 20)
    }
  }
}
