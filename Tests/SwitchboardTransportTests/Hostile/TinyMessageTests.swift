import HTTP2TestSupport
import ServerTestSupport
import SwitchboardCall
import TestSupport
import Testing

@testable import SwitchboardNetwork
@testable import SwitchboardTransport

/// Messages of few bytes or none: what they take in memory is what counts.
@Suite(.mayBlock, .timeLimit(.minutes(5))) struct TinyMessageTests {
  private typealias Kind = FramePeer.Kind

  /// How many messages of a size a stream's buffer has room for, and one more.
  private static func room(_ byteCount: Int) -> Int {
    256 * 1024 / (byteCount + MessageBuffer.heldOverhead) + 1
  }

  /// About a megabyte of messages, which is a stream's window.
  private static func batch(_ byteCount: Int) -> (bytes: [UInt8], count: Int) {
    let message = [0] + FramePeer.number(UInt32(byteCount)) + [UInt8](repeating: 7, count: byteCount)
    let count = (1 << 20) / message.count / 64 * 64
    return ([[UInt8]](repeating: message, count: count / 64).flatMap { $0 }, count)
  }

  @Test(arguments: [0, 1]) func unreadRequestsStayEncoded(_ byteCount: Int) async throws {
    try await HostilePair.with { hostile async throws in
      let peer = try hostile.connect()
      // The server's settings count from here on: the window is a megabyte.
      peer.send(Kind.settings, 1, 0, [])
      peer.headers(1, FramePeer.call("Deaf"))
      let (bytes, _) = Self.batch(byteCount)
      for _ in 0..<64 { peer.data(1, bytes) }
      #expect(peer.settle())
      let server = hostile.pair.server
      let held = await hostile.loop.onLoop {
        server.core.connections.flatMap(\.serverStreams).compactMap { $0.flow?.pipe.totals.messages }
      }
      #expect(held == [Self.room(byteCount)])
      #expect(hostile.abuses.counts.isEmpty)
    }
  }

  @Test func unreadRequestsOverHTTP1StayEncoded() async throws {
    var options = ServerOptions()
    options.web = WebOptions(origins: .any)
    let group = try LoopGroup()
    let loop = group.loops[0]
    let (bytes, _) = Self.batch(0)
    var sender: Task<Void, Never>?
    try await TestPair.with(server: options, serverGroup: group) { pair async throws in
      let peer = try HTTP1Peer(pair.address)
      peer.send(HTTP1Peer.head("Deaf", "", ["content-length: \(bytes.count * 1000)"]))
      let raw = peer.raw
      sender = MayBlock.task { for _ in 0..<1000 where !raw.send(bytes) { break } }
      let server = pair.server
      await loop.until { server.core.connections.contains { $0.socket.isPaused } }
      let held = await loop.onLoop {
        server.core.connections.flatMap(\.serverStreams).compactMap { $0.flow?.pipe.totals.messages }
      }
      #expect(held == [Self.room(0)])
    }
    await sender?.value
  }

  /// What stayed in bytes is read in the end, whole and in order, and the end comes after it.
  @Test(arguments: [Wire.ipv4, .tls, .inProcess])
  func lateReadersReadEverything(_ wire: Wire) async throws {
    try await TestPair.with(wire) { pair async throws in
      let count = 30_000
      let requests = (0..<count).map { $0 % 3 == 0 ? [] : [UInt8(truncatingIfNeeded: $0)] }
      let call = Task { try await pair.collect(TestService.sleepAndCollect, requests) }
      for _ in 0..<100 { #expect(try await pair.get() == [1, 2, 3]) }
      pair.service.released.fire()
      #expect(try await call.value == requests.flatMap { $0 })
    }
  }

  @Test(arguments: [0, 1]) func unreadResponsesStayEncoded(_ byteCount: Int) async throws {
    let listener = try FrameListener()
    let group = try LoopGroup()
    try await withChannel(to: listener.target, group: group) { channel async throws in
      let (bytes, count) = Self.batch(byteCount)
      let responses = MessagePipe(limit: 256 * 1024)
      let receiver = EndReceiver()
      let call = channel.transport.makeCall(
        CallRequest(
          method: TestService.expand,
          options: nil,
          body: .message(MessageBuffer([])),
          responses: responses
        ),
        receiver: receiver
      )
      call.start()
      let peer = listener.accept()
      #expect(peer.next(Kind.headers) != nil)
      peer.send(Kind.settings, 1, 0, [])
      peer.headers(1, [(":status", "200"), ("content-type", "application/grpc")])
      for _ in 0..<64 { peer.data(1, bytes) }
      peer.headers(1, [("grpc-status", "0")], ends: true)
      #expect(peer.settle())
      #expect(responses.totals.messages == Self.room(byteCount))
      #expect(!receiver.hasEnded)
      // All of it is there once it is read, and the end behind it.
      var read = 0
      while read < count, let message = try await responses.next() {
        #expect(message.byteCount == byteCount)
        read += 1
      }
      #expect(read == count)
      #expect(await receiver.status.isOk)
    }
  }

  @Test(arguments: [0, 1]) func writersOfResponsesWait(_ byteCount: Int) async throws {
    try await HostilePair.with { hostile async throws in
      let peer = try hostile.connect()
      peer.send(Kind.settings, 0, 0, [0, 4] + FramePeer.number(0))
      // One after the other: handlers that fill their buffers in one turn of the loop keep others waiting, which is not what
      // this is about.
      for index in 0..<20 {
        peer.headers(UInt32(2 * index + 1), FramePeer.call("Flood"))
        peer.data(UInt32(2 * index + 1), [0, 0, 0, 0, 1, UInt8(byteCount)], ends: true)
        #expect(peer.next(Kind.headers) != nil)
      }
      #expect(peer.settle())
      #expect(hostile.pair.service.floodMessages.value <= 20 * (Self.room(byteCount) + 1))
    }
  }

  @Test(arguments: [Wire.ipv4, .inProcess]) func writersWaitForAClientThatDoesNotRead(_ wire: Wire)
    async throws
  {
    try await TestPair.with(wire) { pair async throws in
      var iterator = pair.expand(TestService.flood, [0]).makeAsyncIterator()
      #expect(try await iterator.next(isolation: nil)?.isEmpty == true)
      for _ in 0..<2000 { _ = try await pair.get() }
      // Both sides' buffers, and the window's megabyte in bytes.
      #expect(pair.service.floodMessages.value <= 3 * Self.room(0) + (wire == .inProcess ? 0 : (2 << 20) / 5))
    }
  }

  @Test func callersUseTheBufferSizeOfTheirChannel() async throws {
    var options = ChannelOptions()
    options.streamBufferSize = 16 * 1024
    try await TestPair.with(.inProcess, channel: options) { pair async throws in
      var iterator = pair.expand(TestService.flood, [0]).makeAsyncIterator()
      #expect(try await iterator.next(isolation: nil)?.isEmpty == true)
      for _ in 0..<100 { _ = try await pair.get() }
      #expect(pair.service.floodMessages.value <= 16 * 1024 / MessageBuffer.heldOverhead + 3)
    }
  }

  @Test func writersOfRequestsWait() async throws {
    let listener = try FrameListener()
    try await withChannel(to: listener.target) { channel async throws in
      let requests = MessagePipe(limit: 256 * 1024)
      let call = channel.transport.makeCall(
        CallRequest(method: TestService.collect, options: nil, body: .stream(requests)),
        receiver: EndReceiver()
      )
      call.start()
      let peer = listener.accept()
      peer.send(Kind.settings, 0, 0, [0, 4] + FramePeer.number(0))
      #expect(peer.next(Kind.headers) != nil)
      var written = 0
      while requests.push(MessageBuffer([])), written < 100_000 { written += 1 }
      #expect(written < Self.room(0))
      call.cancel(GRPCStatus(code: .cancelled))
    }
  }
}

/// Keeps how a call ended.
private final class EndReceiver: ResponseReceiver {
  private let end = Locked<GRPCStatus?>(nil)
  private let signal = Signal()

  var wantsMetadata: Bool { false }
  var wantsSent: Bool { false }
  func sent(_ part: SentPart) {}
  func responseWasCompressed() {}
  func receive(headers: HPACKHeaders) {}
  func decoder(for message: RawSpan) -> ResponseDecoder? { nil }
  func receive(message: RawSpan) {}
  func close(_ status: GRPCStatus, trailers: HPACKHeaders) {
    end.withLock { $0 = status }
    signal.fire()
  }

  var hasEnded: Bool { end.withLock { $0 } != nil }

  var status: GRPCStatus {
    get async {
      await signal.wait()
      return end.withLock { $0 } ?? .ok
    }
  }
}

extension ServerConnection {
  /// The calls in progress. On the loop.
  var serverStreams: [ServerCallStream] {
    var found: [ServerCallStream] = []
    func note(_ stream: StreamEntry) {
      if let stream = stream as? ServerCallStream { found.append(stream) }
    }
    parts.streams.forEach(note)
    return found
  }
}
