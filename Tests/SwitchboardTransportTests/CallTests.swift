import ServerTestSupport
import SwitchboardCall
import SwitchboardNetwork
import SwitchboardTransport
import TestSupport
import Testing

/// Our client with our server, over every kind of socket.
@Suite(.timeLimit(.minutes(5))) struct CallTests {
  @Test(arguments: Wire.allCases) func unaryCallsAreAnswered(_ wire: Wire) async throws {
    try await TestPair.with(wire) { pair async throws in
      #expect(try await pair.get() == [1, 2, 3])
      #expect(try await pair.get(TestService.get, []) == [])
    }
  }

  @Test(arguments: Wire.allCases) func responsesStreamInOrder(_ wire: Wire) async throws {
    try await TestPair.with(wire) { pair async throws in
      let responses = try await pair.expand(TestService.expand, Array(0...255)).collected()
      #expect(responses == (0...255).map { [$0] })
      #expect(try await pair.expand(TestService.expand, []).collected().isEmpty)
    }
  }

  @Test(arguments: Wire.allCases) func requestsStreamInOrder(_ wire: Wire) async throws {
    try await TestPair.with(wire) { pair async throws in
      let requests = (0..<1000).map { [UInt8](repeating: UInt8($0 % 256), count: 100) }
      #expect(try await pair.collect(TestService.collect, requests) == requests.flatMap { $0 })
      #expect(try await pair.collect(TestService.collect, []) == [])
    }
  }

  @Test(arguments: Wire.allCases) func bothSidesStreamInOrder(_ wire: Wire) async throws {
    try await TestPair.with(wire) { pair async throws in
      let requests = (0..<1000).map { [UInt8](repeating: UInt8($0 % 256), count: $0) }
      #expect(try await pair.update(requests).collected() == requests)
    }
  }

  @Test(arguments: Wire.allCases) func largeMessagesGoBothWays(_ wire: Wire) async throws {
    try await TestPair.with(wire) { pair async throws in
      let large = (0..<4_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
      #expect(try await pair.get(TestService.get, large) == large)
      #expect(try await pair.update([large, large]).collected() == [large, large])
    }
  }

  @Test func manyCallsAtOnceShareAConnection() async throws {
    var options = ServerOptions()
    options.maxConcurrentStreams = 7
    try await TestPair.with(server: options) { pair async throws in
      try await withThrowingTaskGroup(of: Bool.self) { group in
        for index in 0..<500 {
          let request = [UInt8(index % 256)]
          group.addTask { try await pair.get(TestService.get, request) == request }
        }
        for try await isRight in group { #expect(isRight) }
      }
    }
  }

  @Test(arguments: Wire.allCases) func callersOnTheLoopStayOnIt(_ wire: Wire) async throws {
    try await TestPair.with(wire) { pair async throws in
      let answer = try await Task(executorPreference: pair.channel.eventLoop) {
        let answer = try await pair.get()
        #expect(pair.channel.eventLoop.inEventLoop)
        return answer
      }.value
      #expect(answer == [1, 2, 3])
    }
  }

  @Test func lowLatencyDoesNotChangeAnswers() async throws {
    var server = ServerOptions()
    server.lowLatency = true
    var client = ChannelOptions()
    client.lowLatency = true
    try await TestPair.with(server: server, channel: client) { pair async throws in
      // Some responses arrive while spinning, others after the caller was suspended.
      for number in UInt8(0)..<100 { #expect(try await pair.get(TestService.get, [number]) == [number]) }
      let requests = (0..<100).map { [UInt8($0)] }
      #expect(try await pair.update(requests).collected() == requests)
    }
  }

  @Test(arguments: Wire.allCases) func metadataTravelsBothWays(_ wire: Wire) async throws {
    try await TestPair.with(wire) { pair async throws in
      var options = CallOptions()
      options.initialMetadata.add(name: "one", value: "1")
      options.initialMetadata.add(name: "two-bin", binary: [0, 255])
      options.initialMetadata.add(name: "grpc-status", value: "7")
      options.initialMetadata.add(name: ":path", value: "/elsewhere")
      options.initialMetadata.add(name: "connection", value: "close")
      let recorder = MetadataRecorder()
      var request = CallRequest(
        method: TestService.reflect,
        options: options,
        body: .message(MessageBuffer([]))
      )
      request.deadline = SystemTime().deadline(after: .seconds(300))
      let call = pair.channel.transport.makeCall(request, receiver: recorder)
      call.start()
      await recorder.closed.wait()
      #expect(recorder.status == .ok)
      #expect(recorder.headers[":status"] == ["200"])
      #expect(recorder.headers["one"] == ["1"])
      #expect(recorder.headers[binary: "two-bin"] == [[0, 255]])
      #expect(recorder.trailers["one"] == ["1"])
      #expect(recorder.trailers["grpc-status"] == ["0"])
      #expect(recorder.message.hasPrefix(wire.peerPrefix))
      #expect(recorder.message.hasSuffix(" true"))
    }
  }
}

/// Records the events of a call.
final class MetadataRecorder: ResponseReceiver, @unchecked Sendable {
  // Written on the loop before `closed` fires, read after it.
  var headers = HPACKHeaders()
  var trailers = HPACKHeaders()
  var message = ""
  var status: GRPCStatus?
  let closed = Signal()

  var wantsMetadata: Bool { true }
  var wantsSent: Bool { true }
  func sent(_ part: SentPart) {}
  func responseWasCompressed() {}
  func receive(headers: HPACKHeaders) { self.headers = headers }
  func decoder(for message: RawSpan) -> ResponseDecoder? { nil }
  func receive(message: RawSpan) {
    self.message = message.withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
  }
  func close(_ status: GRPCStatus, trailers: HPACKHeaders) {
    self.status = status
    self.trailers = trailers
    closed.fire()
  }
}

extension Wire {
  /// The prefix of a client's address, as the server sees it.
  fileprivate var peerPrefix: String {
    switch self {
    case .ipv4, .tls: "ipv4:127.0.0.1:"
    case .ipv6: "ipv6:[::1]:"
    case .unix, .unixAbstract: "unix:"
    case .inProcess: "inprocess"
    }
  }
}
