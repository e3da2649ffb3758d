import CallTestSupport
import HTTP2TestSupport
import ServerTestSupport
import SwitchboardCall
import SwitchboardCallObjects
import TestSupport
import Testing

@testable import SwitchboardNetwork
@testable import SwitchboardTransport

@Suite(.mayBlock, .timeLimit(.minutes(5))) struct CompressionTests {
  private let repetitive = [UInt8](repeating: 7, count: 50_000)

  @Test(arguments: [MessageCompression.gzip, .deflate]) func messagesRoundTrip(_ encoding: MessageCompression)
    throws
  {
    let packed = Compressor.compress(MessageBuffer(repetitive), encoding)
    #expect(packed.isCompressed)
    #expect(packed.byteCount < 1000)
    let plain = try Compressor.decompress(packed, encoding, limit: .request(50_000))
    #expect(plain.withBytes { $0.withUnsafeBytes(Array.init) } == repetitive)
  }

  @Test func incompressibleMessagesAreNotCompressed() {
    #expect(!Compressor.compress(MessageBuffer([1, 2, 3]), .gzip).isCompressed)
    #expect(!Compressor.compress(MessageBuffer([]), .gzip).isCompressed)
  }

  @Test func decompressionStopsAtTheLimit() {
    let packed = Compressor.compress(MessageBuffer([UInt8](repeating: 0, count: 10_000_000)), .gzip)
    #expect(throws: GRPCStatus.self) { try Compressor.decompress(packed, .gzip, limit: .request(100_000)) }
  }

  @Test(arguments: [[], [1, 2, 3], [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3]] as [[UInt8]])
  func damagedBytesAreAnError(_ bytes: [UInt8]) {
    #expect(throws: GRPCStatus.cannotDecompress) {
      try Compressor.decompress(MessageBuffer(bytes), .gzip, limit: .request(1000))
    }
  }

  @Test(arguments: [MessageCompression.none, .gzip, .deflate])
  func bothSidesCompress(_ encoding: MessageCompression) async throws {
    try await TestPair.with { pair async throws in
      let call = pair.channel.call(TestService.compressed, options: CallOptions(compression: encoding))
        .makeBidirectionalStreamingCall()
      var responses = call.responseStream.makeAsyncIterator()
      for _ in 0..<3 {
        try await call.requestStream.send(repetitive)
        #expect(try await responses.next(isolation: nil) == repetitive)
      }
      call.requestStream.finish()
      #expect(try await responses.next(isolation: nil) == nil)
      #expect(try await call.initialMetadata["grpc-encoding"] == ["gzip"])
    }
  }

  @Test func aServerChoosesForEachMessage() async throws {
    try await TestPair.with { pair async throws in
      let peer = try FramePeer(pair.address)
      peer.headers(1, FramePeer.request("/test.Test/Selective", [("grpc-accept-encoding", "gzip")]))
      for first in [1, 0, 1] as [UInt8] {
        let message = [first] + repetitive.prefix(1000)
        peer.data(1, [0, 0, 0, UInt8(message.count >> 8), UInt8(message.count & 255)] + message)
      }
      #expect(peer.nextHeaders()?.fields["grpc-encoding"] == "gzip")
      #expect(peer.nextMessages(3).map(\.isCompressed) == [true, false, true])
    }
  }

  @Test(arguments: [
    (["lz4"], #"unknown grpc-encoding "lz4": supported are gzip, deflate, zstd, br"#),
    (["gzip", "gzip"], "the request's encoding is not supported or repeated"),
  ])
  func anUnknownEncodingIsNamed(_ names: [String], _ message: String) async throws {
    try await TestPair.with { pair async throws in
      let peer = try FramePeer(pair.address)
      peer.headers(1, FramePeer.request("/test.Test/Selective", names.map { ("grpc-encoding", $0) }))
      let answer = peer.nextHeaders()
      #expect(answer?.fields["grpc-status"] == "12")
      #expect(answer?.fields["grpc-message"] == message)
    }
  }

  @Test func aBadTimeoutIsAnsweredWithTheForm() async throws {
    try await TestPair.with { pair async throws in
      let peer = try FramePeer(pair.address)
      peer.headers(1, FramePeer.request("/test.Test/Selective", [("grpc-timeout", "5000ms")]))
      #expect(peer.nextHeaders()?.fields["grpc-message"]?.hasSuffix("as in 5S or 500m") == true)
    }
  }

  @Test func aClientChoosesForEachMessage() async throws {
    let listener = try FrameListener()
    try await withChannel(to: listener.target) { channel async throws in
      let call = channel.call(TestService.collect, options: CallOptions(compression: .gzip))
        .makeClientStreamingCall()
      for isChosen in [false, true, false] {
        try await call.requestStream.send(repetitive, compress: isChosen)
      }
      let peer = listener.accept()
      #expect(peer.nextHeaders()?.fields["grpc-encoding"] == "gzip")
      #expect(peer.nextMessages(2).map(\.isCompressed) == [false, true])
      call.cancel()
    }
  }

  // Messages of a megabyte are decompressed on another thread; messages after them wait.

  private let large = [UInt8](repeating: 7, count: 1 << 20)

  @Test func messagesStayInTheirOrder() async throws {
    try await TestPair.with { pair async throws in
      let call = pair.channel.call(TestService.compressed, options: CallOptions(compression: .gzip))
        .makeBidirectionalStreamingCall()
      let sent = (0..<30).map { number in
        [UInt8(number)] + (number % 3 == 0 ? large : Array(repetitive.prefix(number * 10)))
      }
      let sending = Task {
        for message in sent { try await call.requestStream.send(message, compress: message[0] % 2 == 0) }
        call.requestStream.finish()
      }
      #expect(try await call.responseStream.collected() == sent)
      try await sending.value
    }
  }

  @Test func aLateReaderGetsAllMessages() async throws {
    try await TestPair.with { pair async throws in
      let call = pair.channel.call(TestService.sleep, options: CallOptions(compression: .gzip))
        .makeClientStreamingCall()
      for _ in 0..<20 { try await call.requestStream.send(large) }
      call.requestStream.finish()
      let server = pair.server.core
      let loop = try #require(server.connections.first).loop
      await loop.until { server.connections.first?.serverStreams.first?.state.hasRemoteEnded == true }
      pair.service.released.fire()
      #expect(try await call.response == [20])
    }
  }

  /// The server sends its last bytes long before they are read.
  @Test func aLateCallerGetsAllMessages() async throws {
    let listener = try FrameListener()
    try await withChannel(to: listener.target) { channel async throws in
      let responses = Caller(channel: channel).expand(TestService.expand, [])
      let reading = Task {
        var count = 0
        for try await response in responses {
          #expect(response.count == 1 << 20)
          count += 1
          for _ in 0..<100 { await Task.yield() }
        }
        return count
      }
      let peer = listener.accept()
      _ = peer.next(FramePeer.Kind.data)
      let head = [(":status", "200"), ("content-type", "application/grpc"), ("grpc-encoding", "gzip")]
      peer.headers(1, head)
      for _ in 0..<20 { peer.data(1, MessageAttackTests.zeros(1 << 20)) }
      peer.headers(1, [("grpc-status", "0")], ends: true)
      #expect(try await reading.value == 20)
    }
  }
}
