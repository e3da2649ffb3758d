import HTTP2TestSupport
import ServerTestSupport
import SwitchboardCall
import SwitchboardCallObjects
import SwitchboardNetwork
import SwitchboardTransport
import TestSupport
import Testing

/// Servers that say how a call ended, and do not end the body.
@Suite(.mayBlock, .timeLimit(.minutes(5))) struct LastFrameTests {
  private typealias Kind = FramePeer.Kind

  private static let headers = [(":status", "200"), ("content-type", "application/connect+proto")]
  private static let message: [UInt8] = [0, 0, 0, 0, 1, 7]
  private static let success: [UInt8] = [2, 0, 0, 0, 2] + "{}".utf8

  private static func options(_ version: HTTPVersion) -> ChannelOptions {
    var options = ChannelOptions()
    options.wireProtocol = .connect
    options.httpVersion = version
    return options
  }

  /// A call of a stream of responses; what arrived, and how it ended.
  private func start(_ channel: Channel) -> Task<([[UInt8]], GRPCStatus), any Error> {
    Task(executorPreference: channel.eventLoop) {
      let call = channel.call(TestService.expand, options: CallOptions()).makeServerStreamingCall([1])
      var messages: [[UInt8]] = []
      for try await message in call.responseStream { messages.append(message) }
      return (messages, await call.status)
    }
  }

  @Test func aStreamThatIsNotEndedIsReset() async throws {
    let listener = try FrameListener()
    try await withChannel(to: listener.target, options: Self.options(.negotiated)) { channel async throws in
      let call = start(channel)
      let peer = listener.accept()
      _ = peer.next(Kind.data)
      peer.headers(1, Self.headers)
      peer.data(1, Self.message + Self.success)
      let (messages, status) = try await call.value
      #expect(messages == [[7]])
      #expect(status == .ok)
      let reset = peer.next(Kind.resetStream)
      #expect(reset?.stream == 1)
    }
  }

  @Test func aStreamThatIsEndedLaterIsNotReset() async throws {
    let listener = try FrameListener()
    try await withChannel(to: listener.target, options: Self.options(.negotiated)) { channel async throws in
      let call = start(channel)
      let peer = listener.accept()
      _ = peer.next(Kind.data)
      peer.headers(1, Self.headers)
      peer.data(1, Self.success)
      #expect(try await call.value.1 == .ok)
      peer.data(1, [], ends: true)
      let second = start(channel)
      let request = peer.next()
      #expect(request?.type == Kind.headers || request?.type == Kind.settings)
      peer.headers(3, Self.headers)
      peer.data(3, Self.success, ends: true)
      #expect(try await second.value.1 == .ok)
    }
  }

  /// Over HTTP/1.1, whose bodies end with a chunk.
  @Test(arguments: [true, false]) func aCallEndsBeforeItsChunkedBodyDoes(_ endsLater: Bool) async throws {
    let listener = try FrameListener()
    try await withChannel(to: listener.target, options: Self.options(.http1)) { channel async throws in
      let call = start(channel)
      let peer = listener.acceptRaw()
      peer.waitForBytes()
      let body = Self.message + Self.success
      peer.send(
        Array(
          "HTTP/1.1 200 OK\r\ncontent-type: application/connect+proto\r\ntransfer-encoding: chunked\r\n\r\n"
            .utf8
        )
          + Array("\(String(body.count, radix: 16))\r\n".utf8) + body + Array("\r\n".utf8)
      )
      let (messages, status) = try await call.value
      #expect(messages == [[7]])
      #expect(status == .ok)
      if endsLater {
        // The connection takes another call.
        peer.send(Array("0\r\n\r\n".utf8))
        let second = start(channel)
        var text = ""
        while !text.contains("POST ") {
          let piece = peer.readSome()
          try #require(!piece.isEmpty)
          text += String(decoding: piece, as: UTF8.self)
        }
        peer.send(Array("HTTP/1.1 503 Busy\r\ncontent-length: 0\r\n\r\n".utf8))
        await #expect(throws: GRPCStatus.self) { try await second.value }
      }
    }
  }
}
