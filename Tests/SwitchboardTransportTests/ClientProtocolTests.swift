import CallTestSupport
import HTTP2TestSupport
import ServerTestSupport
import TestSupport
import Testing

@testable import SwitchboardCall
@testable import SwitchboardNetwork
@testable import SwitchboardTransport

/// Our client with servers and proxies that respond in unusual ways.
@Suite(.mayBlock, .serialized, .timeLimit(.minutes(5))) struct ClientProtocolTests {
  private typealias Kind = FramePeer.Kind

  private static let message: [UInt8] = [0, 0, 0, 0, 2, 7, 8]
  private static let headers = [(":status", "200"), ("content-type", "application/grpc")]

  /// Starts a call, lets `serve` respond, and returns the result of the call.
  private func call(
    options: ChannelOptions = ChannelOptions(),
    request: [UInt8] = [7, 8],
    _ serve: (FrameListener) throws -> Void
  ) async throws -> Result<[UInt8], GRPCStatus> {
    let listener = try FrameListener()
    let channel = try Channel(target: listener.target, options: options)
    // On the channel's loop, because this thread runs the server.
    let call = Task(executorPreference: channel.eventLoop) {
      try await channel.call(TestService.get).unary(request)
    }
    try serve(listener)
    let result: Result<[UInt8], GRPCStatus>
    do { result = .success(try await call.value) } catch { result = .failure(GRPCStatus(describing: error)) }
    await channel.shutDown(grace: .zero)
    return result
  }

  private func answer(_ peer: FramePeer, _ stream: UInt32 = 1) {
    peer.headers(stream, Self.headers)
    peer.data(stream, Self.message)
    peer.headers(stream, [("grpc-status", "0")], ends: true)
  }

  @Test func theRequestHasTheRequiredHeaders() async throws {
    let result = try await call { listener in
      let peer = listener.accept()
      let request = try #require(peer.nextHeaders()).fields
      #expect(request[":method"] == "POST")
      #expect(request[":scheme"] == "http")
      #expect(request[":path"] == "/test.Test/Get")
      #expect(request["te"] == "trailers")
      #expect(request["content-type"] == "application/grpc")
      #expect(request["user-agent"]?.hasPrefix("grpc-swift-switchboard/") == true)
      let body = try #require(peer.next(Kind.data))
      #expect(body.payload == Self.message)
      #expect(body.endsStream)
      answer(peer)
    }
    #expect(result == .success([7, 8]))
  }

  /// An HTTP/1.1 server that takes the preface for a request of HTTP/0.9 answers without a head.
  @Test(arguments: [
    ("HTTP/1.1 400 Bad Request\r\n\r\n", GRPCStatus.peerSpeaksHTTP1),
    ("<!DOCTYPE HTML>\n<html lang=\"en\">\n", .peerSpeaksNoHTTP2),
    ("220 mail.example ESMTP\r\n", .peerSpeaksNoHTTP2),
  ])
  func aServerOfAnotherProtocolIsRecognized(_ greeting: String, _ expected: GRPCStatus) async throws {
    let result = try await call { listener in
      let raw = listener.acceptRaw()
      raw.send(Array(greeting.utf8))
      #expect(raw.readToEnd())
    }
    #expect(result == .failure(expected))
  }

  /// As from a server that was held up: headers and trailers of calls are no flood.
  @Test func aThousandAnswersMayComeAtOnce() async throws {
    let listener = try FrameListener()
    try await withChannel(to: listener.target, options: ChannelOptions()) { channel async throws in
      let loop = channel.eventLoop
      let calls = Task(executorPreference: loop) {
        try await withThrowingTaskGroup(of: [UInt8].self) { group in
          for _ in 0..<1000 {
            group.addTask(executorPreference: loop) { try await channel.call(TestService.get).unary([7, 8]) }
          }
          return try await group.reduce(0) { count, _ in count + 1 }
        }
      }
      let peer = listener.accept()
      var streams: [UInt32] = []
      while streams.count < 1000 {
        let frame = try #require(peer.next())
        if frame.type == Kind.headers { streams.append(frame.stream) }
      }
      let (head, end) = (FramePeer.block(Self.headers), FramePeer.block([("grpc-status", "0")]))
      peer.raw.send(
        streams.flatMap {
          FramePeer.frame(Kind.headers, 4, $0, head) + FramePeer.frame(Kind.data, 0, $0, Self.message)
            + FramePeer.frame(Kind.headers, 5, $0, end)
        }
      )
      #expect(try await calls.value == 1000)
    }
  }

  @Test func interruptedRequestsDoNotLookComplete() async throws {
    let listener = try FrameListener()
    try await withChannel(to: listener.target) { channel async throws in
      let (requests, answer) = (MessagePipe(limit: 1024), ResponseHandover<[UInt8]>())
      let request = CallRequest(method: TestService.collect, options: nil, body: .stream(requests))
      let call = channel.transport.makeCall(
        request,
        receiver: CallReceiver(nil, answer, BytesMarshaller())
      )
      let response = Task(executorPreference: channel.eventLoop) {
        call.start()
        return try await answer.value(of: call)
      }
      let peer = listener.accept()
      _ = peer.nextHeaders()
      requests.push(MessageBuffer([1]))
      #expect(peer.next(Kind.data)?.endsStream == false)
      requests.abort(GRPCStatus(code: .aborted))
      while let frame = peer.next(), frame.type != Kind.resetStream {
        #expect(frame.type != Kind.data || !frame.endsStream)
      }
      #expect(await status { _ = try await response.value }?.code == .aborted)
    }
  }

  @Test(
    arguments: [
      ([(":status", "200"), ("content-type", "application/grpc"), ("grpc-status", "5")], 5),
      ([(":status", "503"), ("content-type", "text/html")], 14), ([(":status", "400")], 13),
      ([(":status", "401")], 16), ([(":status", "403")], 7), ([(":status", "404")], 12),
      ([(":status", "429")], 14), ([(":status", "502")], 14), ([(":status", "504")], 14),
      ([(":status", "418")], 2), ([(":status", "500")], 2), ([(":status", "302")], 2),
      ([(":status", "200"), ("content-type", "text/html")], 2),
      ([(":status", "200"), ("content-type", "application/grpc"), ("grpc-encoding", "rot13")], 13),
      ([(":status", "200"), ("content-type", "application/grpc"), ("grpc-status", "99")], 2),
      ([(":status", "200"), ("content-type", "application/grpc")], 2),
      ([(":status", "200"), ("content-type", "application/grpc"), ("grpc-status", "0")], 12),
    ] as [([(String, String)], Int)]
  )
  func headersThatEndTheCallGiveItsStatus(_ sample: (headers: [(String, String)], code: Int)) async throws {
    let result = try await call { listener in
      let peer = listener.accept()
      _ = peer.next(Kind.data)
      peer.headers(1, sample.headers, ends: true)
    }
    let status = try #require(result.failure)
    #expect(status.code.rawValue == sample.code)
  }

  @Test func aLargeRequestEndsWithItsLastBytes() async throws {
    let result = try await call(request: [UInt8](repeating: 7, count: 40_000)) { listener in
      let peer = listener.accept()
      var count = 0
      while let frame = peer.next(Kind.data) {
        count += frame.payload.count
        #expect(frame.endsStream == (count == 40_005))
        if frame.endsStream { break }
      }
      answer(peer)
    }
    #expect(result == .success([7, 8]))
  }

  @Test func informationalHeadersAreIgnored() async throws {
    let result = try await call { listener in
      let peer = listener.accept()
      _ = peer.next(Kind.data)
      peer.headers(1, [(":status", "103")])
      answer(peer)
    }
    #expect(result == .success([7, 8]))
  }

  @Test(
    arguments: [
      (0x0, 13), (0x1, 13), (0x2, 13), (0x3, 13), (0x4, 13), (0x6, 13), (0x8, 1), (0x9, 13), (0xa, 13),
      (0xb, 8),
      (0xc, 7),
    ] as [(UInt8, Int)]
  )
  func aResetIsMappedToAStatus(_ sample: (reset: UInt8, code: Int)) async throws {
    let result = try await call { listener in
      let peer = listener.accept()
      _ = peer.next(Kind.data)
      peer.send(Kind.resetStream, 0, 1, [0, 0, 0, sample.reset])
    }
    let status = try #require(result.failure)
    #expect(status.code.rawValue == sample.code)
  }

  @Test func aRefusedCallIsRetried() async throws {
    let result = try await call { listener in
      let peer = listener.accept()
      _ = peer.next(Kind.data)
      peer.send(Kind.resetStream, 0, 1, [0, 0, 0, 7])
      #expect(peer.next(Kind.data)?.stream == 3)
      answer(peer, 3)
    }
    #expect(result == .success([7, 8]))
  }

  @Test func aCallRefusedTwiceFails() async throws {
    let result = try await call { listener in
      let peer = listener.accept()
      for stream in [1, 3] as [UInt32] {
        #expect(peer.next(Kind.data)?.stream == stream)
        peer.send(Kind.resetStream, 0, stream, [0, 0, 0, 7])
      }
    }
    let status = try #require(result.failure)
    #expect(status.code == .unavailable)
  }

  private func collect(
    options: ChannelOptions = ChannelOptions(),
    _ serve: (FrameListener) throws -> Void
  ) async throws -> Result<[UInt8], GRPCStatus> {
    let listener = try FrameListener()
    let channel = try Channel(target: listener.target, options: options)
    let call = Task(executorPreference: channel.eventLoop) {
      try await Caller(channel: channel).collect(TestService.collect, [[7], [8, 9]])
    }
    try serve(listener)
    let result: Result<[UInt8], GRPCStatus>
    do { result = .success(try await call.value) } catch { result = .failure(GRPCStatus(describing: error)) }
    await channel.shutDown(grace: .zero)
    return result
  }

  @Test func aRefusedStreamOfRequestsIsResent() async throws {
    let result = try await collect { listener in
      let peer = listener.accept()
      #expect(peer.nextMessages(2).map(\.bytes) == [[7], [8, 9]])
      peer.send(Kind.resetStream, 0, 1, [0, 0, 0, 7])
      #expect(peer.nextHeaders() != nil)
      #expect(peer.nextMessages(2).map(\.bytes) == [[7], [8, 9]])
      answer(peer, 3)
    }
    #expect(result == .success([7, 8]))
  }

  @Test func aRefusedStreamThatWasNotBufferedFails() async throws {
    var options = ChannelOptions()
    options.retryBufferSize = 10
    let result = try await collect(options: options) { listener in
      let peer = listener.accept()
      _ = peer.nextMessages(2)
      peer.send(Kind.resetStream, 0, 1, [0, 0, 0, 7])
    }
    let status = try #require(result.failure)
    #expect(status.code == .unavailable)
  }

  @Test func anAnsweredCallIsNotRetried() async throws {
    let result = try await collect { listener in
      let peer = listener.accept()
      _ = peer.nextMessages(2)
      peer.headers(1, Self.headers)
      peer.send(Kind.resetStream, 0, 1, [0, 0, 0, 7])
    }
    let status = try #require(result.failure)
    #expect(status.code == .unavailable)
  }

  @Test func anUnsentCallIsRetriedUntilItIsSent() async throws {
    var options = ChannelOptions()
    options.connectInitialBackoff = .milliseconds(1)
    let result = try await collect(options: options) { listener in
      for _ in 0..<4 {
        let peer = listener.acceptRaw()
        _ = peer.read("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8.count)
        // Settings, and a GOAWAY before any call can have been sent.
        peer.send(
          [0, 0, 0, 4, 0, 0, 0, 0, 0] + [0, 0, 8, 7, 0, 0, 0, 0, 0] + [UInt8](repeating: 0, count: 8)
        )
      }
      let peer = listener.accept()
      #expect(peer.nextMessages(2).map(\.bytes) == [[7], [8, 9]])
      answer(peer)
    }
    #expect(result == .success([7, 8]))
  }

  @Test func aServerThatEndsEveryConnectionIsUnavailable() async throws {
    let result = try await call { listener in
      let peer = listener.acceptRaw()
      _ = peer.read("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8.count)
      peer.send(PlainGoAway.bytes(.enhanceYourCalm, "go away"))
    }
    let status = try #require(result.failure)
    #expect(status.code == .unavailable)
    #expect(status.message == "the server ended the connection with HTTP/2 error 11: go away")
  }

  @Test func aCallExcludedByGoAwayIsRetriedOnAnotherConnection() async throws {
    let result = try await call { listener in
      let first = listener.accept()
      _ = first.next(Kind.data)
      first.send(Kind.goAway, 0, 0, [0, 0, 0, 0, 0, 0, 0, 0])
      let second = listener.accept()
      _ = second.next(Kind.data)
      answer(second)
    }
    #expect(result == .success([7, 8]))
  }

  @Test func aCallCoveredByGoAwayFinishes() async throws {
    let result = try await call { listener in
      let peer = listener.accept()
      _ = peer.next(Kind.data)
      peer.send(Kind.goAway, 0, 0, [0, 0, 0, 1, 0, 0, 0, 0])
      answer(peer)
      #expect(peer.raw.readToEnd())
    }
    #expect(result == .success([7, 8]))
  }

  @Test func aLostConnectionEndsItsCalls() async throws {
    let result = try await call { listener in
      let peer = listener.accept()
      _ = peer.next(Kind.data)
    }
    let status = try #require(result.failure)
    #expect(status.code == .unavailable)
  }

  @Test func twoResponsesToAUnaryCallAreAnError() async throws {
    let result = try await call { listener in
      let peer = listener.accept()
      _ = peer.next(Kind.data)
      peer.headers(1, Self.headers)
      peer.data(1, Self.message + Self.message)
      peer.headers(1, [("grpc-status", "0")], ends: true)
    }
    let status = try #require(result.failure)
    #expect(status.code == .unimplemented)
  }

  @Test func aServerWithoutHTTP2IsUnavailable() async throws {
    let result = try await call { listener in
      let peer = listener.accept()
      peer.raw.send(Array("HTTP/1.1 400 Bad Request\r\n\r\n".utf8))
    }
    let status = try #require(result.failure)
    #expect(status.code == .unavailable)
  }
}

extension Result {
  fileprivate var failure: Failure? {
    if case .failure(let failure) = self { return failure }
    return nil
  }
}
