import HTTP2TestSupport
import SwitchboardCall
import TestSupport
import Testing

@testable import SwitchboardNetwork
@testable import SwitchboardTransport

/// Large requests that begin and are not whole, many of them on one connection.
@Suite(.mayBlock, .timeLimit(.minutes(5))) struct GatheredRequestTests {
  private typealias Kind = FramePeer.Kind

  struct Form: Sendable, CustomTestStringConvertible {
    var method = "Get"
    let contentType: String
    /// What precedes a message of 300,000 bytes.
    var prefix: [UInt8] = []
    /// The field of the refusal.
    let refusal: (name: String, value: String)
    var testDescription: String { "\(contentType) \(method)" }

    var headers: [(String, String)] {
      [
        (":method", "POST"), (":scheme", "http"), (":path", "/test.Test/\(method)"), (":authority", "test"),
        ("te", "trailers"), ("content-type", contentType),
      ]
    }

    private static let frame = [0] + FramePeer.number(300_000)

    static let all = [
      Form(contentType: "application/proto", refusal: (":status", "429")),
      Form(contentType: "application/grpc", prefix: frame, refusal: ("grpc-status", "8")),
      Form(method: "Collect", contentType: "application/grpc", prefix: frame, refusal: ("grpc-status", "8")),
    ]
  }

  /// Half of the buffer is for all requests but the oldest, which is not limited by the others.
  @Test(arguments: Form.all) func whatManyRequestsKeepIsBounded(_ form: Form) async throws {
    var options = WireProtocolTests.server
    options.connectionBufferSize = 2 << 20
    let piece = [UInt8](repeating: 1, count: 15_000)
    let calls = 30
    try await HostilePair.with(.ipv4, options) { hostile async throws in
      let peer = try hostile.connect()
      // The server's windows are in force once they are acknowledged: a megabyte for each stream.
      peer.send(Kind.settings, 1, 0, [])
      for number in 0..<calls {
        let stream = UInt32(2 * number + 1)
        peer.headers(stream, form.headers)
        peer.data(stream, form.prefix)
        for _ in 0..<19 { peer.data(stream, piece) }
      }
      // Three whole ones fit beside the oldest.
      for _ in 0..<calls - 4 {
        let fields = try #require(peer.nextHeaders()).fields
        #expect(fields[form.refusal.name] == form.refusal.value)
        if let message = fields["grpc-message"] { #expect(message.contains("connectionBufferSize")) }
      }
      try #require(peer.settle())
      let kept = await hostile.loop.onLoop {
        hostile.pair.server.core.connections.map { $0.gathered.byteCount }.max() ?? 0
      }
      #expect(kept == 4 * 19 * piece.count)
      // It reads the responses.
      peer.send(Kind.settings, 0, 0, [0, 4] + FramePeer.number(1 << 20))
      peer.send(Kind.windowUpdate, 0, 0, FramePeer.number(1 << 22))
      // The oldest goes on, and then those that waited: what was withheld of their windows comes back.
      for stream in [1, 3, 5, 7] as [UInt32] {
        peer.data(stream, piece, ends: true)
        var fields = try #require(peer.nextHeaders()).fields
        // Trailers of the response before.
        while fields[":status"] == nil { fields = try #require(peer.nextHeaders()).fields }
        #expect(fields[":status"] == "200")
      }
      try #require(peer.settle())
      let rest = await hostile.loop.onLoop {
        hostile.pair.server.core.connections.map { $0.gathered.byteCount }.max()
      }
      #expect(rest == 0)
    }
  }

  /// A client that keeps to its windows has all its calls served, however many there are: they wait for each other.
  @Test(arguments: [CallProtocol.grpc, .connect])
  func callsOfAnHonestClientWaitForEachOther(_ name: CallProtocol) async throws {
    var options = WireProtocolTests.server
    // As the defaults are, and smaller: together, the requests are larger than the buffer, and what their streams may send before
    // they are read is less than half of it.
    options.connectionBufferSize = 16 << 20
    options.connectionWindow = 1 << 20
    options.maxWindow = 1 << 20
    var channel = ChannelOptions()
    channel.wireProtocol = name
    let calls = 40
    try await TestPair.with(server: options, channel: channel) { pair async throws in
      try await withThrowingTaskGroup(of: Int.self) { group in
        for number in 0..<calls {
          let request = [UInt8](repeating: UInt8(number), count: 500_000 + number)
          group.addTask { try await pair.get(TestService.get, request).count }
        }
        var sizes = try await group.reduce(into: []) { $0.append($1) }
        sizes.sort()
        #expect(sizes == (0..<calls).map { 500_000 + $0 })
      }
    }
  }

  /// HTTP/1.1 has one request at a time, which is never held up.
  @Test func aRequestOverHTTP1MayBeLargerThanTheBuffer() async throws {
    var options = WireProtocolTests.server
    options.connectionBufferSize = 64 * 1024
    var channel = ChannelOptions()
    channel.wireProtocol = .connect
    channel.httpVersion = .http1
    try await TestPair.with(server: options, channel: channel) { pair async throws in
      let request = [UInt8](repeating: 3, count: 3 << 20)
      for _ in 0..<2 { #expect(try await pair.get(TestService.get, request) == request) }
    }
  }
}
