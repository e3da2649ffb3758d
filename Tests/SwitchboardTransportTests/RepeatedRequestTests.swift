import HTTP2TestSupport
import SwitchboardNetwork
import SwitchboardTransport
import TestSupport
import Testing

/// A connection remembers heads of gRPC's requests. A request must be answered as the first of a connection would be,
/// whatever came before it.
@Suite(.mayBlock, .timeLimit(.minutes(5))) struct RepeatedRequestTests {
  /// Heads of which any two differ in one or two fields.
  private static let requests: [[(String, String)]] = [
    FramePeer.call("Get"),
    FramePeer.call("Get", adding: [("grpc-timeout", "10S")]),
    FramePeer.call("Get", adding: [("grpc-timeout", "0S")]),
    FramePeer.call("Get", adding: [("grpc-timeout", "soon")]),
    FramePeer.call("Get", adding: [("grpc-encoding", "gzip")]),
    FramePeer.call("Get", adding: [("grpc-encoding", "foo")]),
    FramePeer.call("Get", adding: [("content-length", "5")]),
    FramePeer.call("Get", adding: [("content-length", "6")]),
    FramePeer.call("Get", adding: [("origin", "http://a")]),
    FramePeer.call("Get", adding: [("large", String(repeating: "v", count: 100))]),
    FramePeer.call("Safe"),
    FramePeer.call("Safe", adding: [("grpc-accept-encoding", "gzip")]),
    FramePeer.call("Missing"),
    FramePeer.call("Fail"),
    FramePeer.call("Update"),
    FramePeer.call("Reflect"),
    FramePeer.call("Reflect", adding: [("one", "a")]),
    FramePeer.call("Reflect", adding: [("one", "b")]),
    FramePeer.call("Reflect", adding: [("one", "b"), ("grpc-timeout", "10S")]),
    other("te", nil), other("te", "gzip"), other(":method", "GET"), other(":authority", nil),
    other("content-type", "application/grpc+proto"), other("content-type", "application/grpc+none"),
    other("content-type", "application/json"),
  ]

  /// The first, with another value of a field, or without it.
  private static func other(_ name: String, _ value: String?) -> [(String, String)] {
    FramePeer.call("Get").compactMap { field in
      field.0 == name ? value.map { (name, $0) } : field
    }
  }

  @Test func repeatedRequestsGetTheSameAnswers() async throws {
    try await TestPair.with { pair async throws in
      let requests = RepeatedRequests(Self.requests.map { RepeatedRequests.Request($0, [0, 0, 0, 0, 0]) })
      #expect(try requests.mistakes { try FramePeer(pair.address) } == [])
    }
  }
}
