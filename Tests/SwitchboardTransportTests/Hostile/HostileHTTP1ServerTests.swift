import CallTestSupport
import CertificateSupport
import HTTP2TestSupport
import SwitchboardCall
import TLSSupport
import TestSupport
import Testing

@testable import SwitchboardNetwork
@testable import SwitchboardTransport

/// Hostile HTTP/1.1 servers of our Connect client.
@Suite(.mayBlock, .timeLimit(.minutes(5))) struct HostileHTTP1ServerTests {
  private static var options: ChannelOptions {
    var options = ChannelOptions()
    options.wireProtocol = .connect
    options.httpVersion = .http1
    return options
  }

  /// How a call ends whose server sends this after the request, and then what follows, again and again.
  private func call(_ response: String, _ more: String = "") async throws -> (GRPCStatus?, [PeerAbuse: Int]) {
    try await HostileListener.with(Self.options) { hostile async throws in
      let call = hostile.call()
      let peer = hostile.listener.acceptRaw()
      peer.waitForBytes()
      peer.send(Array(response.utf8))
      let piece = [UInt8](String(repeating: more, count: 100).utf8)
      if !more.isEmpty { while peer.send(piece) {} }
      return (await status { _ = try await call.value }, hostile.abuses.counts)
    }
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
    var options = Self.options
    options.maxHTTP1Connections = 1
    try await HostileListener.with(options) { hostile async throws in
      let transport = try #require(hostile.channel.transport as? HTTP2ClientTransport)
      let first = hostile.call()
      let peer = hostile.listener.acceptRaw()
      peer.waitForBytes()
      let second = hostile.call()
      await transport.loop.until { transport.waiting.count == 1 }
      let padding = max(0, size - Self.answer("one", "x: \r\n").count)
      let answer = Self.answer("one", "x: \(String(repeating: "x", count: padding))\r\n")
      peer.send(answer + (size == 1 ? Array("\r\n".utf8) : Self.answer("forged")))
      #expect(try await first.value == Array("one".utf8))
      let next = hostile.listener.acceptRaw()
      next.waitForBytes()
      next.send(Self.answer("two"))
      #expect(try await second.value == Array("two".utf8))
      #expect(hostile.abuses.counts == [.protocolViolation: 1])
    }
  }

  /// Bytes before a request are not its response: the call has not been sent, and looks for another connection.
  @Test func bytesBeforeARequestAreNotItsAnswer() async throws {
    let abuses = AbuseRecorder()
    var options = Self.options
    options.observer = abuses
    let channel = try HTTP2ClientTransport(target: "unix:/nowhere", options: options, group: try LoopGroup())
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
    try await HostileListener.with(Self.options) { hostile async throws in
      let first = hostile.call()
      let peer = hostile.listener.acceptRaw()
      peer.waitForBytes()
      peer.send(Self.answer("one"))
      #expect(try await first.value == Array("one".utf8))
      peer.send(Self.answer("forged"))
      await hostile.abuses.wait(for: .protocolViolation)
      #expect(peer.readToEnd())
    }
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
    var options = Self.options
    options.security = .tls(ClientTLS(trustRoots: TestCertificates.authority))
    try await HostileListener.with(options) { hostile async throws in
      let call = hostile.call()
      do {
        let peer = SecurePeer(hostile.listener.acceptRaw(), try TLSPeer(.server, protocols: ["http/1.1"]))
        try peer.shakeHands()
        let blank: [UInt8] = Array("\r\n\r\n".utf8)
        _ = peer.listen { $0.suffix(7).prefix(4) == blank[...] || $0.suffix(4) == blank[...] }
        peer.tls.write(Array("HTTP/1.1 200 OK\r\ncontent-type: application/proto\r\n\r\nabc".utf8))
        if isWhole { peer.tls.end() }
        peer.flush()
      }
      if isWhole {
        #expect(try await call.value == Array("abc".utf8))
      } else {
        #expect(await status { _ = try await call.value }?.code == .unavailable)
      }
    }
  }
}
