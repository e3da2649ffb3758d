import CertificateSupport
import HTTP2TestSupport
import SwitchboardCall
import TLSSupport
import TestSupport
import Testing

@testable import SwitchboardHTTP2

/// Hostile HTTP/1.1 servers of our Connect client.
@Suite(.mayBlock, .timeLimit(.minutes(5))) struct HostileHTTP1ServerTests {
  private static func options(_ abuses: AbuseRecorder) -> ChannelOptions {
    var options = ChannelOptions()
    options.wireProtocol = .connect
    options.httpVersion = .http1
    options.observer = abuses
    return options
  }

  /// How a call ends whose server sends this after the request, and then what follows, again and again.
  private func call(_ response: String, _ more: String = "") async throws -> (GRPCStatus?, [PeerAbuse: Int]) {
    let listener = try FrameListener()
    let abuses = AbuseRecorder()
    let channel = try Channel(target: listener.target, options: Self.options(abuses))
    let failure = Task { await status { _ = try await Caller(channel: channel).get() } }
    let peer = listener.acceptRaw()
    peer.waitForBytes()
    peer.send(Array(response.utf8))
    let piece = [UInt8](String(repeating: more, count: 100).utf8)
    if !more.isEmpty { while peer.send(piece) {} }
    let found = await failure.value
    await channel.shutDown(grace: .zero)
    return (found, abuses.counts)
  }

  @Test func endlessInformationalResponsesFailTheCall() async throws {
    let (status, abuses) = try await call("", "HTTP/1.1 100 Continue\r\n\r\n")
    #expect(status?.code == .unavailable)
    #expect(abuses == [.informationFlood: 1])
  }

  @Test func anUnrequestedUpgradeFailsTheCall() async throws {
    let (status, abuses) = try await call("HTTP/1.1 101 Switching Protocols\r\n\r\n")
    #expect(status?.code == .unavailable)
    #expect(abuses == [.protocolViolation: 1])
  }

  @Test func anEndlessErrorFailsTheCall() async throws {
    let (status, _) = try await call(
      "HTTP/1.1 503 Busy\r\ncontent-type: text/html\r\n\r\n",
      String(repeating: "<p>", count: 1000)
    )
    #expect(status?.code == .unavailable)
    #expect(status?.message == "the HTTP status is 503")
  }

  private static func answer(_ text: String, _ fields: String = "") -> [UInt8] {
    let body = Array(text.utf8)
    let head =
      "HTTP/1.1 200 OK\r\ncontent-type: application/proto\r\n\(fields)content-length: \(body.count)\r\n\r\n"
    return Array(head.utf8) + body
  }

  /// What follows a response is not the response to the call that waits for the connection, which is made on another.
  /// With the last number, it begins where the client's first read ends.
  @Test(arguments: [0, 1, 4096]) func surplusIsNotTheAnswerToTheNextCall(_ size: Int) async throws {
    let listener = try FrameListener()
    let abuses = AbuseRecorder()
    var options = Self.options(abuses)
    options.maxHTTP1Connections = 1
    let channel = try Channel(target: listener.target, options: options)
    let transport = try #require(channel.transport as? HTTP2ClientTransport)
    let first = Task { try await Caller(channel: channel).get() }
    let peer = listener.acceptRaw()
    peer.waitForBytes()
    let second = Task { try await Caller(channel: channel).get() }
    await transport.loop.until { transport.waitingCount == 1 }
    let padding = max(0, size - Self.answer("one", "x: \r\n").count)
    let answer = Self.answer("one", "x: \(String(repeating: "x", count: padding))\r\n")
    peer.send(answer + (size == 1 ? Array("\r\n".utf8) : Self.answer("forged")))
    #expect(try await first.value == Array("one".utf8))
    let next = listener.acceptRaw()
    next.waitForBytes()
    next.send(Self.answer("two"))
    #expect(try await second.value == Array("two".utf8))
    #expect(abuses.counts == [.protocolViolation: 1])
    await channel.shutDown(grace: .zero)
  }

  /// Bytes before a request are not its response: the call has not been sent, and looks for another connection.
  @Test func bytesBeforeARequestAreNotItsAnswer() async throws {
    let abuses = AbuseRecorder()
    let channel = try HTTP2ClientTransport(
      target: "unix:/nowhere",
      options: Self.options(abuses),
      group: try LoopGroup()
    )
    let receiver = EndRecorder()
    let reason = await channel.loop.onLoop {
      FedConnection.withClient(channel) { connection in
        let request = BytesMarshaller().encode([1])
        let call = CallRequest(method: TestService.get, options: nil, body: .message(request))
        channel.makeCall(call, receiver: receiver).start()
        connection.feed(Self.answer("forged"))
        // No other connection can be made.
        return connection.closeReason
      }
    }
    #expect(reason == .unrequestedBytes)
    await channel.loop.onLoop { channel.retire() }
    #expect(receiver.end?.isOk != true)
    #expect(abuses.counts == [.protocolViolation: 1])
  }

  @Test func bytesWithoutARequestEndTheConnection() async throws {
    let listener = try FrameListener()
    let abuses = AbuseRecorder()
    let channel = try Channel(target: listener.target, options: Self.options(abuses))
    let first = Task { try await Caller(channel: channel).get() }
    let peer = listener.acceptRaw()
    peer.waitForBytes()
    peer.send(Self.answer("one"))
    #expect(try await first.value == Array("one".utf8))
    peer.send(Self.answer("forged"))
    await abuses.wait(for: .protocolViolation)
    #expect(peer.readToEnd())
    await channel.shutDown(grace: .zero)
  }

  /// A response may come before the whole request was sent, after any number of informational ones.
  @Test func anEarlyAnswerIsTaken() async throws {
    let (status, abuses) = try await call(
      "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Hints\r\na: b\r\n\r\nHTTP/1.1 429 Busy\r\ncontent-length: 0\r\n\r\n"
    )
    #expect(status?.code == .unavailable)
    #expect(abuses.isEmpty)
  }

  /// A response without a length ends with the connection, but over TLS anyone can end that before it is whole.
  @Test(arguments: [true, false]) func aResponseCutOffOverTLSFailsTheCall(_ isWhole: Bool) async throws {
    let listener = try FrameListener()
    var options = Self.options(AbuseRecorder())
    options.security = .tls(ClientTLS(trustRoots: TestCertificates.authority))
    let channel = try Channel(target: listener.target, options: options)
    let result = Task {
      var response: [UInt8]?
      let failure = await status { response = try await Caller(channel: channel).get() }
      return (response, failure)
    }
    do {
      let peer = SecurePeer(listener.acceptRaw(), try TLSPeer(.server, protocols: ["http/1.1"]))
      try peer.shakeHands()
      let blank: [UInt8] = Array("\r\n\r\n".utf8)
      _ = peer.listen { $0.suffix(7).prefix(4) == blank[...] || $0.suffix(4) == blank[...] }
      peer.tls.write(Array("HTTP/1.1 200 OK\r\ncontent-type: application/proto\r\n\r\nabc".utf8))
      if isWhole { peer.tls.end() }
      peer.flush()
    }
    let (response, failure) = await result.value
    if isWhole {
      #expect(response == Array("abc".utf8), "\(String(describing: failure))")
    } else {
      #expect(failure?.code == .unavailable)
    }
    await channel.shutDown(grace: .zero)
  }
}
