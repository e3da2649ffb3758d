import HTTP2TestSupport
import SwitchboardNetwork
import SwitchboardTransport
import TestSupport
import Testing

/// A connection remembers heads of gRPC's requests. A request must be answered as the first of a connection would be,
/// whatever came before it.
@Suite(.mayBlock, .timeLimit(.minutes(5))) struct RepeatedRequestTests {
  private typealias Kind = FramePeer.Kind

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

  /// The frames that answer a request, without digits, which may be those of the connection's port. `nil` if the
  /// connection has ended.
  private func answer(_ peer: FramePeer, _ stream: UInt32, _ request: Int) -> [String]? {
    peer.headers(stream, Self.requests[request])
    peer.data(stream, [0, 0, 0, 0, 0], ends: true)
    var answer: [String] = []
    while let frame = peer.next() {
      let fields = frame.type == Kind.headers ? peer.inflate(frame.payload) : [:]
      guard frame.stream == stream else { continue }
      switch frame.type {
      case Kind.headers: answer.append(fields.map { "\($0): \($1)" }.sorted().joined(separator: ", "))
      case Kind.data: answer.append(String(decoding: frame.payload, as: UTF8.self).filter { !$0.isNumber })
      case Kind.resetStream: answer.append("\(frame.payload)")
      default: continue
      }
      if frame.endsStream || frame.type == Kind.resetStream { return answer }
    }
    return nil
  }

  @Test func repeatedRequestsGetTheSameAnswers() async throws {
    try await TestPair.with { pair async throws in
      let expected = try Self.requests.indices.map { try answer(FramePeer(pair.address), 1, $0) }
      for first in Self.requests.indices {
        let peer = try FramePeer(pair.address)
        var stream: UInt32 = 1
        for second in Self.requests.indices {
          for request in [first, first, first, second, second, second, first, second] {
            #expect(answer(peer, stream, request) == expected[request], "\(first) \(second)")
            stream += 2
          }
        }
      }
    }
  }
}
