import HTTP2TestSupport
import SwitchboardNetwork
import SwitchboardTransport
import TestSupport
import Testing

/// A connection recognizes the head of a request that it has seen before. A request must be answered as the first of a
/// connection would be, whatever came before it.
@Suite(.mayBlock, .timeLimit(.minutes(5))) struct RepeatedHeadTests {
  /// Requests of which any two differ in one or two parts of the head.
  private static let requests: [(path: String, type: String, lines: [String])] = [
    ("/test.Test/Get", "application/proto", []),
    ("/test.Test/Get", "application/connect+proto", []),
    ("/test.Test/Get", "application/pro@to", []),
    ("/test.Test/Get", "application/proto", ["content-encoding: foo"]),
    ("/test.Test/Get", "application/proto", ["content-encoding: identity"]),
    ("/test.Test/Get", "application/proto", ["connect-timeout-ms: soon"]),
    ("/test.Test/Get", "application/proto", ["connect-timeout-ms: 10000"]),
    ("/test.Test/Get", "application/proto", ["grpc-timeout: soon"]),
    ("/test.Test/Get", "application/proto", ["connect-protocol-version: 2"]),
    ("/test.Test/Get", "application/proto", ["connect-protocol-version: 1"]),
    ("/test.Test/Get", "application/grpc-web", []),
    ("/test.Test/Missing", "application/proto", []),
    ("/test.Test/Reflect", "application/proto", []),
    ("/test.Test/Reflect", "application/proto", ["one: a"]),
    ("/test.Test/Reflect", "application/proto", ["one: b"]),
    ("/test.Test/Reflect", "application/proto", ["one: a", "connect-protocol-version: 1"]),
    ("/test.Test/Fail", "application/proto", []),
  ]

  private func answer(_ peer: ConnectPeer, _ request: Int) -> HTTP1Peer.Response? {
    let (path, type, lines) = Self.requests[request]
    return peer.send("POST", path, type, lines, [])
  }

  /// The body without digits, which may be those of the connection's port.
  private func words(_ response: HTTP1Peer.Response) -> String { response.text.filter { !$0.isNumber } }

  @Test func repeatedRequestsGetTheSameAnswers() async throws {
    try await TestPair.with(server: WireProtocolTests.server) { pair async throws in
      let expected = try Self.requests.indices.map { request in
        try #require(answer(ConnectPeer(HTTP1Peer(pair.address)), request))
      }
      var peer = ConnectPeer(try HTTP1Peer(pair.address))
      for first in Self.requests.indices {
        for second in Self.requests.indices {
          for request in [first, first, first, second, second, first] {
            var response = answer(peer, request)
            if response == nil {
              // A refused request may have ended the connection.
              peer = ConnectPeer(try HTTP1Peer(pair.address))
              response = answer(peer, request)
            }
            #expect(response?.status == expected[request].status, "\(first) \(second)")
            #expect(response.map(words) == words(expected[request]), "\(first) \(second)")
            #expect(response?.fields["one"] == expected[request].fields["one"], "\(first) \(second)")
          }
        }
      }
    }
  }

  /// The same over HTTP/2, on which several calls of Connect have one exchange.
  @Test func repeatedRequestsOverHTTP2GetTheSameAnswers() async throws {
    let requests = Self.requests.map { path, type, lines in
      let more = lines.map { $0.split(separator: ": ").map(String.init) }.map { ($0[0], $0[1]) }
      let head = [
        (":method", "POST"), (":scheme", "http"), (":path", path), (":authority", "test"),
        ("content-type", type),
      ]
      return RepeatedRequests.Request(head + more, [])
    }
    try await TestPair.with(server: WireProtocolTests.server) { pair async throws in
      #expect(try RepeatedRequests(requests).mistakes { try FramePeer(pair.address) } == [])
    }
  }
}
