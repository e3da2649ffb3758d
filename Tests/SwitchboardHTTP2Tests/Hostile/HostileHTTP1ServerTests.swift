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

  /// A response without a length ends with the connection, but over TLS anyone can end that before it is whole.
  @Test(arguments: [true, false]) func aResponseCutOffOverTLSFailsTheCall(_ isWhole: Bool) async throws {
    let listener = try FrameListener()
    var options = Self.options(AbuseRecorder())
    options.tls = ClientTLS(trustRoots: TestCertificates.authority)
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
