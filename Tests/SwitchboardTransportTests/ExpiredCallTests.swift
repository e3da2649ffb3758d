import CallTestSupport
import HTTP2TestSupport
import ServerTestSupport
import SwitchboardCall
import SwitchboardNetwork
import SwitchboardTransport
import Synchronization
import Testing

/// Calls whose deadline has passed when they arrive: no handler runs for them, in any protocol.
@Suite(.mayBlock, .timeLimit(.minutes(5))) struct ExpiredCallTests {
  /// Counts the handlers that run.
  private final class CountingService: CallHandlerProvider {
    let count = Atomic(0)
    var serviceName: String { "count.Count" }

    var methodHandlers: [MethodHandler] {
      let one = MethodDescriptor(service: serviceName, method: "One", type: .unary)
      let many = MethodDescriptor(service: serviceName, method: "Many", type: .clientStreaming)
      return [
        one.bytes.unaryHandler { [self] request, _ in
          count.add(1, ordering: .relaxed)
          return request
        },
        many.bytes.clientStreamingHandler { [self] _, _ in
          count.add(1, ordering: .relaxed)
          return []
        },
      ]
    }
  }

  private func with(_ body: (SocketAddress) async throws -> Void) async throws {
    let service = CountingService()
    try await withServer([service], options: WireProtocolTests.server) { _, address async throws in
      try await body(address)
      #expect(service.count.load(ordering: .relaxed) == 0)
    }
  }

  private static let types = [
    (path: "/count.Count/One", type: "application/proto", timeout: "connect-timeout-ms", zero: "0"),
    (path: "/count.Count/Many", type: "application/connect+proto", timeout: "connect-timeout-ms", zero: "0"),
    (path: "/count.Count/One", type: "application/grpc-web", timeout: "grpc-timeout", zero: "0S"),
    (path: "/count.Count/Many", type: "application/grpc-web", timeout: "grpc-timeout", zero: "0n"),
    (path: "/count.Count/One", type: "application/grpc", timeout: "grpc-timeout", zero: "0m"),
    (path: "/count.Count/Many", type: "application/grpc", timeout: "grpc-timeout", zero: "0H"),
  ]

  @Test(arguments: types) func runsNoHandlerOverHTTP2(
    _ call: (path: String, type: String, timeout: String, zero: String)
  ) async throws {
    try await with { address in
      let peer = try FramePeer(address)
      let fields = [
        (":method", "POST"), (":scheme", "http"), (":path", call.path), (":authority", "test"),
        ("te", "trailers"),
        ("content-type", call.type), (call.timeout, call.zero),
      ]
      // All at once, as the handler could run at once.
      peer.raw.send(
        FramePeer.frame(FramePeer.Kind.headers, 4, 1, FramePeer.block(fields))
          + FramePeer.frame(FramePeer.Kind.data, 1, 1, [0, 0, 0, 0, 0])
      )
      var head = try #require(peer.nextHeaders())
      var text = "\(head.fields)"
      while !head.ends {
        let frame = try #require(peer.next())
        if frame.type == FramePeer.Kind.headers { text += "\(peer.inflate(frame.payload))" }
        if frame.type == FramePeer.Kind.data { text += String(decoding: frame.payload, as: UTF8.self) }
        head.ends = frame.endsStream
      }
      #expect(Self.isExpired(text))
    }
  }

  @Test(arguments: types.dropLast(2)) func runsNoHandlerOverHTTP1(
    _ call: (path: String, type: String, timeout: String, zero: String)
  ) async throws {
    try await with { address in
      let peer = ConnectPeer(try HTTP1Peer(address))
      let response = try #require(
        peer.send("POST", call.path, call.type, ["\(call.timeout): \(call.zero)"], [0, 0, 0, 0, 0])
      )
      #expect(Self.isExpired(response.text))
    }
  }

  private static func isExpired(_ response: String) -> Bool {
    response.contains("deadline_exceeded") || response.contains(#""grpc-status": "4""#)
      || response.contains("grpc-status:4")
  }
}
