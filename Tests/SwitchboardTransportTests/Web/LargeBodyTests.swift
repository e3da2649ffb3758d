import Dispatch
import SwitchboardCall
import Synchronization
import TestSupport
import Testing

@testable import SwitchboardNetwork
@testable import SwitchboardTransport

/// Bodies that must be turned into messages, which takes long if they are large: meanwhile the loop serves other calls.
@Suite(.mayBlock, .timeLimit(.minutes(5))) struct LargeBodyTests {
  /// A message is its body in reverse. A body that begins with 0 is none, and one with 1 is turned only when the test says
  /// so.
  private final class Reversing: Dialect, DialectConversion {
    let gate = Gate()
    /// Whether the call of the body that the gate held was over.
    let isUnwanted = Atomic(false)
    let ended = DispatchSemaphore(value: 0)

    func accept(_ request: borrowing DialectRequest, _ methods: RPCMethods) -> DialectDecision? {
      request.method.map { .call(DialectCall($0, .unnamed, ReversingExchange(self))) }
    }

    func message(from body: UnsafeRawBufferPointer) throws(GRPCStatus) -> MessageBuffer {
      if body.first == 0 { throw GRPCStatus(code: .invalidArgument, message: "it begins with 0") }
      if body.first == 1 {
        gate.pass()
        isUnwanted.store(Task.isCancelled, ordering: .relaxed)
        ended.signal()
      }
      return MessageBuffer(Array(body.reversed()))
    }

    func waitForEnd() { #expect(ended.wait(timeout: .now() + 200) == .success) }
  }

  /// Work that takes until the test lets it end.
  private struct Gate {
    private let started = DispatchSemaphore(value: 0)
    private let released = DispatchSemaphore(value: 0)

    func pass() {
      started.signal()
      _ = released.wait(timeout: .now() + 200)
    }

    func waitForStart() { #expect(started.wait(timeout: .now() + 200) == .success) }

    func release() { released.signal() }
  }

  /// Bytes as a format with a name. Messages that begin with 0 are invalid, and those that begin with 1 are decoded only
  /// when the test says so.
  private struct SlowFormat: PayloadFormat, Marshaller {
    let gate = Gate()

    var contentSubtype: ContentSubtype { .json }

    func marshaller<Message: Sendable>(for type: Message.Type) -> (any Marshaller<Message>)? {
      self as? any Marshaller<Message>
    }

    func encode(_ message: [UInt8]) -> MessageBuffer { MessageBuffer(message) }

    func decode(_ bytes: RawSpan) throws -> [UInt8] {
      let message = BytesMarshaller().decode(bytes)
      if message.first == 0 { throw GRPCStatus(code: .invalidArgument, message: "it begins with 0") }
      if message.first == 1 { gate.pass() }
      return message
    }
  }

  private final class ReversingExchange: DialectExchange {
    private let reversing: Reversing

    init(_ reversing: Reversing) { self.reversing = reversing }

    var requestForm: DialectRequestForm { .message(reversing) }
    var waitsForEnd: Bool { true }

    func answer(_ message: MessageBuffer?, _ ending: borrowing DialectEnding, into headers: HeaderWriter)
      -> DialectBody?
    {
      headers.add(":status", ending.isOk ? "200" : "500")
      return .message(message ?? MessageBuffer(Array("\(ending.status.code)".utf8)))
    }

    func writeHead(_ metadata: HPACKHeaders?, _ compression: MessageCompression, into headers: HeaderWriter) {
    }
    var sendsFrames: Bool { false }
    var responseEncoder: (any DialectEncoder)? { nil }
    var isBase64: Bool { false }
    func end(_ ending: borrowing DialectEnding) -> [UInt8]? { [] }
  }

  /// A body of a hundred thousand bytes.
  private func large(_ first: UInt8) -> [UInt8] { [first] + [UInt8](repeating: 7, count: 99_999) }

  private func post(_ body: [UInt8], on peer: HTTP1Peer, _ lines: [String] = []) {
    let lines = lines + ["content-length: \(body.count)"]
    peer.raw.send(Array(ConnectPeer.head("POST", "/test.Test/Get", "", lines).utf8) + body)
  }

  private func with(_ body: (TestPair, Reversing, Loop) async throws -> Void) async throws {
    let reversing = Reversing()
    let group = try LoopGroup()
    #expect(group.loops.count == 1)
    var options = ServerOptions()
    options.dialects = [{ (_: RPCMethods) -> any Dialect in reversing }]
    try await TestPair.with(server: options, serverGroup: group) { pair async throws in
      defer { reversing.gate.release() }
      try await body(pair, reversing, group.loops[0])
    }
  }

  @Test func largeBodiesDoNotBlockOtherCalls() async throws {
    try await with { pair, reversing, _ async throws in
      let slow = try HTTP1Peer(pair.address)
      post(large(1), on: slow)
      reversing.gate.waitForStart()
      let other = try HTTP1Peer(pair.address)
      post([2, 3], on: other)
      #expect(other.response()?.body == [3, 2])
      reversing.gate.release()
      #expect(slow.response()?.body == large(1).reversed())
      post([6, 7], on: slow)
      #expect(slow.response()?.body == [7, 6])
    }
  }

  @Test func largeBodiesSucceedAndFailLikeOthers() async throws {
    try await with { pair, _, _ async throws in
      let peer = try HTTP1Peer(pair.address)
      post(large(2), on: peer)
      #expect(peer.response()?.body == large(2).reversed())
      for body in [[0], large(0)] {
        post(body, on: peer)
        let response = try #require(peer.response())
        #expect(response.status == "500")
        #expect(response.body == Array("\(GRPCStatus.Code.invalidArgument)".utf8))
      }
      post([4, 5], on: peer)
      #expect(peer.response()?.body == [5, 4])
    }
  }

  @Test func theDeadlineHoldsDuringAConversion() async throws {
    try await with { pair, _, _ async throws in
      let peer = try HTTP1Peer(pair.address)
      post(large(1), on: peer, ["grpc-timeout: 50m"])
      #expect(peer.response()?.body == Array("\(GRPCStatus.Code.deadlineExceeded)".utf8))
    }
  }

  @Test func aDisconnectedClientsConversionIsCancelled() async throws {
    try await with { pair, reversing, loop async throws in
      do {
        let peer = try HTTP1Peer(pair.address)
        post(large(1), on: peer)
        withExtendedLifetime(peer) { reversing.gate.waitForStart() }
      }
      let core = pair.server.core
      await loop.until { core.connections.contains { $0.http1?.isHalfClosed == true } }
      await loop.advance(by: .seconds(6))
      await loop.until { core.connections.isEmpty }
      reversing.gate.release()
      // The work that waited for a thread until now would not begin.
      reversing.waitForEnd()
      let wasUnwanted = reversing.isUnwanted.load(ordering: .relaxed)
      #expect(wasUnwanted)
      let other = try HTTP1Peer(pair.address)
      post([2, 3], on: other)
      #expect(other.response()?.body == [3, 2])
    }
  }

  // MARK: Formats

  /// A service of bytes in a format with another name than `SlowFormat` has.
  private struct Named: CallHandlerProvider {
    var serviceName: String { "test.Test" }

    var methodHandlers: [MethodHandler] {
      let bytes = BytesMarshaller(.proto)
      return [
        Method(TestService.get, requests: bytes, responses: bytes).unaryHandler { request, _ in request },
        Method(TestService.collect, requests: bytes, responses: bytes).clientStreamingHandler { requests, _ in
          var all: [UInt8] = []
          for try await request in requests { all += request }
          return all
        },
      ]
    }
  }

  /// Calls pass an interceptor that changes nothing.
  private struct PassingInterceptors: ServerInterceptorFactory {
    func makeServerInterceptors<Request: Sendable, Response: Sendable>(
      for method: MethodDescriptor
    ) -> [ServerInterceptor<Request, Response>] { [ServerInterceptor()] }
  }

  private func with(
    _ format: SlowFormat,
    _ factories: [any ServerInterceptorFactory] = [],
    _ body: (SocketAddress) async throws -> Void
  ) async throws {
    var options = WireProtocolTests.server
    options.payloadFormats = [format]
    options.interceptorFactories = factories
    let server = try Server(providers: [Named()], options: options, group: try LoopGroup())
    let result: Result<Void, any Error>
    do { result = .success(try await body(try server.bind(host: "127.0.0.1", port: 0))) } catch {
      result = .failure(error)
    }
    format.gate.release()
    await server.shutDown(grace: .zero)
    try result.get()
  }

  private func post(_ body: [UInt8], to peer: ConnectPeer, _ lines: [String] = []) -> HTTP1Peer.Response? {
    peer.send("POST", "/test.Test/Get", "application/json", lines, body)
  }

  @Test func largeMessagesInSlowFormatsAreDecodedOffTheLoop() async throws {
    let format = SlowFormat()
    try await with(format) { address async throws in
      let slow = ConnectPeer(try HTTP1Peer(address))
      let head = ConnectPeer.head("POST", "/test.Test/Get", "application/json", ["content-length: 100000"])
      slow.http.raw.send(Array(head.utf8) + large(1))
      format.gate.waitForStart()
      #expect(post([2, 3], to: ConnectPeer(try HTTP1Peer(address)))?.body == [2, 3])
      format.gate.release()
      #expect(slow.http.response()?.body == large(1))
      #expect(post(large(2), to: slow)?.body == large(2))
      #expect(post(large(0), to: slow)?.status == "400")
      #expect(post([4, 5], to: slow)?.body == [4, 5])
    }
  }

  /// Large and small messages keep their order, also those of the same size.
  @Test(arguments: [false, true]) func largeMessagesOfStreamsAreDecodedOffTheLoop(_ isIntercepted: Bool)
    async throws
  {
    let format = SlowFormat()
    try await with(format, isIntercepted ? [PassingInterceptors()] : []) { address async throws in
      let slow = ConnectPeer(try HTTP1Peer(address))
      let messages = [[9], large(1), large(2), [3], large(4), [5, 5]]
      let body = messages.flatMap { WebMessages.frame($0) }
      let lines = ["content-length: \(body.count)"]
      let head = ConnectPeer.head("POST", "/test.Test/Collect", "application/connect+json", lines)
      let raw = slow.http.raw
      let sender = MayBlock.task { _ = raw.send(Array(head.utf8) + body) }
      format.gate.waitForStart()
      #expect(post([2, 3], to: ConnectPeer(try HTTP1Peer(address)))?.body == [2, 3])
      format.gate.release()
      let response = try #require(slow.http.response())
      #expect(response.envelopes.first?.bytes == messages.flatMap { $0 })
      await sender.value
      // The failure of one is the failure of the call.
      let broken = WebMessages.frame([2]) + WebMessages.frame(large(0)) + WebMessages.frame([3])
      let failed = try #require(
        ConnectPeer(try HTTP1Peer(address)).send(
          "POST",
          "/test.Test/Collect",
          "application/connect+json",
          [],
          broken
        )
      )
      #expect(failed.text.contains("it begins with 0"))
    }
  }

  @Test func theDeadlineHoldsWhileAMessageIsDecoded() async throws {
    let format = SlowFormat()
    try await with(format) { address async throws in
      let response = post(large(1), to: ConnectPeer(try HTTP1Peer(address)), ["connect-timeout-ms: 50"])
      #expect(response?.text.contains("deadline_exceeded") == true)
    }
  }
}
