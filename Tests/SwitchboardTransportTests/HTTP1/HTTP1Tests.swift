import CertificateSupport
import Foundation
import HTTP2TestSupport
import ServerTestSupport
import SwitchboardCall
import TestSupport
import Testing

@testable import SwitchboardNetwork
@testable import SwitchboardTransport

/// gRPC-Web over HTTP/1.1, on the port of HTTP/2.
@Suite(.mayBlock, .timeLimit(.minutes(5))) struct HTTP1Tests {
  static var options: ServerOptions {
    var options = ServerOptions()
    options.web = WebOptions(origins: .any)
    return options
  }

  private func with(
    _ options: ServerOptions = Self.options,
    _ body: (HTTP1Peer, TestPair) async throws -> Void
  ) async throws {
    try await TestPair.with(server: options) { pair async throws in
      try await body(try HTTP1Peer(pair.address), pair)
      #expect(try await pair.get() == [1, 2, 3])
    }
  }

  @Test func callsAreCounted() async throws {
    try await with { peer, pair async throws in
      for method in ["Get", "Get", "Fail"] {
        peer.call(method, WebMessages.frame([1]))
        #expect(peer.response()?.status == "200")
      }
      let calls = await pair.server.snapshot().calls
      #expect(calls.started == 3)
      #expect(calls.succeeded == 2)
      #expect(calls.failed == 1)
      #expect(calls.lastStarted != nil)
    }
  }

  @Test func callsFollowOneAnotherOnAConnection() async throws {
    try await with { peer, pair async throws in
      for byte in 1...3 as ClosedRange<UInt8> {
        peer.call("Get", WebMessages.frame([byte]), adding: "Origin: https://a.example")
        let response = try #require(peer.response())
        #expect(response.status == "200")
        #expect(response.fields["content-type"] == "application/grpc-web")
        #expect(response.fields["access-control-allow-origin"] == "*")
        #expect(response.fields["connection"] == nil)
        #expect(WebMessages(response.body).messages == [[byte]])
        #expect(WebMessages(response.body).trailers == ["grpc-status": "0"])
      }
    }
  }

  @Test func aRequestInSingleBytesIsReassembled() async throws {
    try await with { peer, _ async throws in
      let body = WebMessages.frame([1, 2, 3])
      let request = Array(HTTP1Peer.head("Get", "", ["content-length: \(body.count)"]).utf8) + body
      for byte in request { peer.raw.send([byte]) }
      #expect(peer.answer()?.messages == [[1, 2, 3]])
    }
  }

  @Test func bodiesMayComeInChunks() async throws {
    try await with { peer, _ async throws in
      peer.send(HTTP1Peer.head("Get", "", ["Transfer-Encoding: Chunked"]))
      peer.send("3;why=not\r\n\0\0\0\r\n")
      peer.send("04\r\n\0\u{2}\u{1}\u{2}\r\n0\r\nsome: trailer\r\n\r\n")
      #expect(peer.answer()?.messages == [[1, 2]])
      peer.call("Get", WebMessages.frame([9]))
      #expect(peer.answer()?.messages == [[9]])
    }
  }

  @Test func responsesStreamAsTheyAreMade() async throws {
    try await with { peer, pair async throws in
      peer.call("GreetOnce", WebMessages.frame([5]))
      // The headers arrive before there is a message.
      #expect(peer.line() == "HTTP/1.1 200 OK")
      while let line = peer.line(), !line.isEmpty {}
      pair.service.released.fire()
      #expect(peer.chunk() == WebMessages.frame([5]))
    }
  }

  @Test(arguments: ["Expand", "Update"]) func allStreamedMessagesArrive(_ method: String) async throws {
    try await with { peer, _ async throws in
      let requests = method == "Expand" ? [[1, 2, 3]] : [[1], [2], [3]] as [[UInt8]]
      peer.call(method, requests.flatMap(WebMessages.frame))
      let all = WebMessages(try #require(peer.response()).body)
      #expect(all.messages == [[1], [2], [3]])
      #expect(all.trailers["grpc-status"] == "0")
    }
  }

  @Test(arguments: [100, 5000, 300_000], ["", "-text"])
  func largeMessagesArriveComplete(_ count: Int, _ type: String) async throws {
    try await with { peer, _ async throws in
      let message = (0..<count).map { UInt8(truncatingIfNeeded: $0 / 3) }
      let frame = WebMessages.frame(message)
      peer.call("Get", type.isEmpty ? frame : Array(Data(frame).base64EncodedString().utf8), type)
      var body = try #require(peer.response()).body
      if !type.isEmpty { body = try #require(WebMessages.bytes(ofText: body)) }
      #expect(WebMessages(body).messages == [message])
    }
  }

  /// A client that writes thirty megabytes; the server stops reading until the service is released.
  private func withUnreadClient(
    _ body: (HTTP1Peer, TestPair, Loop, Task<Void, Never>) async throws -> Void
  ) async throws {
    var options = Self.options
    options.streamBufferSize = 64 * 1024
    let group = try LoopGroup()
    let loop = group.loops[0]
    try await TestPair.with(server: options, serverGroup: group) { pair async throws in
      let peer = try HTTP1Peer(pair.address)
      let sender = Self.writeAll(to: peer, "Sleep")
      let server = pair.server
      await loop.until { server.core.connections.contains { $0.socket.isPaused } }
      try await body(peer, pair, loop, sender)
    }
  }

  /// Writes a thousand messages, until the server reads no more.
  private static func writeAll(to peer: HTTP1Peer, _ method: String) -> Task<Void, Never> {
    let message = WebMessages.frame([UInt8](repeating: 1, count: 30_000))
    peer.send(HTTP1Peer.head(method, "", ["content-length: \(message.count * 1000)"]))
    let raw = peer.raw
    return MayBlock.task { for _ in 0..<1000 where !raw.send(message) { break } }
  }

  @Test func unreadRequestsStopTheClient() async throws {
    try await withUnreadClient { peer, pair, _, sender async throws in
      pair.service.released.fire()
      await sender.value
      #expect(peer.answer()?.messages == [[UInt8(truncatingIfNeeded: 1000)]])
    }
  }

  /// The client keeps writing, unread, when the server shuts down.
  @Test(arguments: [Duration.zero, .seconds(60)])
  func unreadRequestBytesDoNotDelayTheEnd(_ grace: Duration) async throws {
    try await withUnreadClient { peer, pair, loop, sender async throws in
      let server = pair.server
      let ending = Task { await server.shutDown(grace: grace) }
      // The call continues until its deadline, whenever that timer starts.
      while !Task.isCancelled, server.core.connectionCount > 0 {
        await loop.advance(by: grace)
        await Task.yield()
      }
      await ending.value
      #expect(server.core.connectionCount == 0)
      await sender.value
      #expect(peer.raw.readToEnd())
    }
  }

  /// The response comes before all of the request is read, and the client can read it while it is still writing.
  @Test func aClientThatStillWritesReadsTheAnswer() async throws {
    try await with { peer, _ async throws in
      let sender = Self.writeAll(to: peer, "Ignore")
      #expect(peer.answer()?.trailers["grpc-status"] == "8")
      await sender.value
      #expect(peer.raw.readToEnd())
    }
  }

  @Test func consecutiveRequestsAreServedInOrder() async throws {
    try await with { peer, _ async throws in
      let requests = (1...3 as ClosedRange<UInt8>).flatMap { byte in
        Array(HTTP1Peer.head("Get", "", ["content-length: 6"]).utf8) + WebMessages.frame([byte])
      }
      peer.raw.send(requests)
      for byte in 1...3 as ClosedRange<UInt8> {
        #expect(peer.answer()?.messages == [[byte]])
      }
    }
  }

  @Test func aClientThatExpectsContinueGetsIt() async throws {
    try await with { peer, _ async throws in
      peer.send(HTTP1Peer.head("Get", "", ["Expect: 100-Continue", "content-length: 6"]))
      #expect(peer.response()?.status == "100")
      peer.raw.send(WebMessages.frame([4]))
      #expect(peer.answer()?.messages == [[4]])
    }
  }

  @Test(arguments: [
    ("POST /test.Test/Get", "text/plain", "415"), ("GET /test.Test/Get", "text/plain", "405"),
    ("POST /test.Test/None", "application/grpc-web", "200"), ("POST /gone", "text/plain", "410"),
  ])
  func aRejectedRequestDoesNotContinue(_ start: String, _ type: String, _ status: String) async throws {
    var gone = HTTPPage("POST", "/gone") { _ in HTTPPage.Response(status: 410) }
    gone.ignoresBody = true
    var options = Self.options
    options.pages = [gone]
    try await with(options) { peer, _ async throws in
      peer.send(
        "\(start) HTTP/1.1\r\nhost: a\r\ncontent-type: \(type)\r\nexpect: 100-continue\r\n"
          + "content-length: 6\r\n\r\n"
      )
      let response = try #require(peer.response())
      #expect(response.status == status)
      #expect(response.fields["connection"] == "close")
      #expect(peer.raw.readToEnd())
    }
  }

  @Test func aConnectionClosesOnRequestOfItsClient() async throws {
    try await with { peer, _ async throws in
      peer.call("Get", WebMessages.frame([1]), adding: "Connection: keep-alive, Close")
      let response = try #require(peer.response())
      #expect(response.fields["connection"] == "close")
      #expect(WebMessages(response.body).messages == [[1]])
      #expect(peer.raw.readToEnd())
    }
  }

  @Test func anAnswerBeforeTheRequestsEndClosesTheConnection() async throws {
    try await with { peer, _ async throws in
      peer.send(HTTP1Peer.head("Ignore", "", ["content-length: 1000"]))
      let response = try #require(peer.response())
      #expect(response.fields["connection"] == "close")
      #expect(WebMessages(response.body).trailers["grpc-status"] == "8")
      #expect(peer.raw.readToEnd())
    }
  }

  /// The server waits for a moment, because the client may still read the response.
  @Test func aDisconnectedClientCancelsItsCall() async throws {
    let group = try LoopGroup()
    let loop = group.loops[0]
    try await TestPair.with(server: Self.options, serverGroup: group) { pair async throws in
      do {
        let peer = try HTTP1Peer(pair.address)
        peer.call("Hang", WebMessages.frame([1]))
        await pair.service.hanging.wait()
      }
      let core = pair.server.core
      await loop.until { core.connections.contains { $0.http1?.isHalfClosed == true } }
      await loop.advance(by: .seconds(6))
      await pair.service.cancelled.wait()
    }
  }

  /// A client may end its side after its requests, and read the responses.
  @Test func aHalfClosedClientGetsItsAnswers() async throws {
    let group = try LoopGroup()
    let loop = group.loops[0]
    try await TestPair.with(server: Self.options, serverGroup: group) { pair async throws in
      let peer = try HTTP1Peer(pair.address)
      peer.call("Hang", WebMessages.frame([1]))
      peer.call("Get", WebMessages.frame([2]))
      peer.raw.send([UInt8]("POST /test.Test/Get HTTP/1.1\r\n".utf8))
      peer.raw.endSending()
      let core = pair.server.core
      await loop.until { core.connections.contains { $0.http1?.isHalfClosed == true } }
      await loop.advance(by: .seconds(2))
      pair.service.cancelled.fire()
      for byte in [1, 2] as [UInt8] { #expect(peer.answer()?.messages == [[byte]]) }
      #expect(peer.raw.readToEnd())
      #expect(await pair.server.snapshot().calls.succeeded == 2)
    }
  }

  /// The rest of its request cannot follow any more.
  @Test func aHalfClosedClientWithoutAWholeRequestIsGone() async throws {
    try await with { peer, _ async throws in
      peer.send(HTTP1Peer.head("Get", "", ["content-length: 100"]))
      peer.raw.endSending()
      #expect(peer.raw.readToEnd())
    }
  }

  @Test func aDeadlineEndsTheCall() async throws {
    try await with { peer, _ async throws in
      peer.call("Hang", WebMessages.frame([1]), adding: "grpc-timeout: 10m")
      #expect(peer.answer()?.trailers["grpc-status"] == "4")
    }
  }

  @Test func aPreflightIsAnswered() async throws {
    try await with { peer, _ async throws in
      let lines = [
        "OPTIONS /test.Test/Get HTTP/1.1", "host: a", "origin: null", "access-control-request-method: POST",
      ]
      peer.send((lines + ["", ""]).joined(separator: "\r\n"))
      let response = try #require(peer.response())
      #expect(response.status == "204")
      #expect(response.fields["access-control-allow-origin"] == "*")
      #expect(response.fields["content-length"] == nil)
      peer.call("Get", WebMessages.frame([1]))
      #expect(peer.response()?.status == "200")
    }
  }

  @Test func gRPCCallsAreRefused() async throws {
    try await with { peer, _ async throws in
      peer.send(
        "POST /test.Test/Get HTTP/1.1\r\nhost: a\r\ncontent-type: application/grpc\r\nte: trailers\r\n\r\n"
      )
      #expect(peer.response()?.status == "415")
      peer.send("GET http://a/test.Test/Get HTTP/1.1\r\nhost: a\r\n\r\n")
      let response = try #require(peer.response())
      #expect(response.status == "405")
      #expect(response.fields["allow"] == "POST")
    }
  }

  @Test func aServerThatStopsFinishesTheCall() async throws {
    try await TestPair.with(server: Self.options) { pair async throws in
      let peer = try HTTP1Peer(pair.address)
      let idle = try HTTP1Peer(pair.address)
      idle.call("Get", WebMessages.frame([1]))
      #expect(idle.response()?.status == "200")
      peer.call("Hang", WebMessages.frame([1]))
      await pair.service.hanging.wait()
      pair.server.core.beginDraining()
      #expect(idle.raw.readToEnd())
      pair.service.cancelled.fire()
      #expect(peer.answer()?.messages == [[1]])
      #expect(peer.raw.readToEnd())
    }
  }

  @Test func aConnectionThatBreaksDuringACallIsReleased() async throws {
    let group = try LoopGroup()
    let loop = group.loops[0]
    try await TestPair.with(server: Self.options, serverGroup: group) { pair async throws in
      var peer: HTTP1Peer? = try HTTP1Peer(pair.address)
      peer?.send(HTTP1Peer.head("Collect", "", ["content-length: 100"]))
      let held = Locked<WeakConnection?>(nil)
      let core = pair.server.core
      await loop.until {
        held.withLock { held in
          held = core.connections.first { $0.openStreams == 1 }.map(WeakConnection.init)
          return held != nil
        }
      }
      peer = nil
      await loop.until { held.withLock { $0?.connection } == nil }
      #expect(held.withLock { $0?.connection } == nil)
    }
  }

  @Test(arguments: ["http/1.1", "h2,http/1.1", ""]) func callsComeOverTLS(_ protocols: String) async throws {
    var options = Self.options
    options.tls = ServerTLS(credentials: TestCertificates.server)
    try await TestPair.with(.tls, server: options) { pair async throws in
      let authority = try temporaryFile(TestCertificates.authority)
      defer { try? FileManager.default.removeItem(atPath: authority) }
      let port = String("\(pair.address)".split(separator: ":").last ?? "")
      let peer = try PythonPeer("web_client.py", [port, authority, protocols])
      #expect(peer.line() == (protocols.isEmpty ? "None" : protocols.hasPrefix("h2") ? "h2" : "http/1.1"))
      // A client that negotiated HTTP/2 must use it; this one cannot.
      if !protocols.hasPrefix("h2") {
        #expect(peer.line()?.hasPrefix("200 0000000003010203800000000f") == true)
      }
      peer.stop()
      #expect(try await pair.get() == [1, 2, 3])
    }
  }
}

/// A weak reference to a connection.
private struct WeakConnection: @unchecked Sendable {
  // Sendable because only its existence is checked.
  weak var connection: ServerConnection?
}
