import ServerTestSupport
import Switchboard
import TestSupport
import Testing

/// A service without a `.proto`, in JSON, with grpcio's generic stubs as the peer.
///
/// grpcio sends `application/grpc` for all messages, and accepts any subtype of it.
@Suite(.mayBlock, .timeLimit(.minutes(5))) struct JSONPeerTests {
  @Test func grpciosGenericStubsCallOurServer() async throws {
    try await withServer([Stock.handlers]) { _, address async throws in
      let peer = try PythonPeer("json_peer.py", ["client", "\(address)"])
      var lines: [String] = []
      while let line = peer.line() { lines.append(line) }
      peer.stop()
      #expect(lines == ["done"])
    }
  }

  @Test func ourClientCallsGrpciosGenericHandlers() async throws {
    let peer = try PythonPeer("json_peer.py", ["server"])
    defer { peer.stop() }
    let port = try #require(peer.line())
    try await withChannel(to: "127.0.0.1:\(port)") { channel async throws in
      let client = MethodClient(channel: channel)
      let query = Stock.Query(name: "kettle")
      #expect(try await client.call(Stock.find).unary(query) == Stock.Item(name: "kettle", count: 3))
      #expect(try await client.call(Stock.list).serverStreaming(query).collected().map(\.count) == [1, 2, 3])
      let items = [Stock.Item(name: "a", count: 1), Stock.Item(name: "b", count: 2)]
      #expect(try await client.call(Stock.count).clientStreaming(items) == Stock.Item(name: "ab", count: 3))
      #expect(
        try await client.call(Stock.move).bidirectionalStreaming(items).collected().map(\.count) == [-1, -2]
      )
    }
  }
}
