import Dispatch
import ServerTestSupport
import SwitchboardCall
import Synchronization
import TestSupport
import Testing

@testable import SwitchboardNetwork
@testable import SwitchboardTransport

/// Bodies that become messages, which takes long if they are large: meanwhile the loop serves other calls.
@Suite(.mayBlock, .timeLimit(.minutes(5))) struct LargeBodyTests {
  /// A message is two bytes and the body.
  private final class Heading: Dialect {
    static let head: [UInt8] = [5, 6]
    private let encoding: MessageCompression

    init(_ encoding: MessageCompression) { self.encoding = encoding }

    func accept(_ request: borrowing DialectRequest, _ methods: RPCMethods) -> DialectDecision? {
      var settings = DialectSettings()
      settings.encoding = encoding
      guard let method = request.method else { return nil }
      return .call(DialectCall(method, .unnamed, HeadingExchange(), settings: settings))
    }
  }

  private final class HeadingExchange: DialectExchange {
    var requestForm: DialectRequestForm { .message(after: Heading.head) }
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

  @Test(arguments: [1000, 100_000], [MessageCompression.none, .gzip])
  func whatPrecedesABodyDoesNotCount(_ size: Int, _ compression: MessageCompression) async throws {
    var options = ServerOptions()
    options.maxRequestSize = size
    options.dialects = [{ (_: RPCMethods) -> any Dialect in Heading(compression) }]
    try await TestPair.with(server: options, serverGroup: try LoopGroup()) { pair async throws in
      let peer = try HTTP1Peer(pair.address)
      func answer(_ body: [UInt8]) -> [UInt8]? {
        let message = MessageBuffer(body)
        let sent = compression == .none ? message : Compressor.compress(message, compression)
        let bytes = sent.withBytes { BytesMarshaller().decode($0) }
        let head = ConnectPeer.head("POST", "/test.Test/Get", "", ["content-length: \(bytes.count)"])
        peer.raw.send(Array(head.utf8) + bytes)
        return peer.response()?.body
      }
      let body = [UInt8](repeating: 7, count: size)
      #expect(answer(body) == Heading.head + body)
      #expect(answer(body + [7]) == Array("\(GRPCStatus.Code.resourceExhausted)".utf8))
    }
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
  private final class SlowFormat: PayloadFormat, Marshaller {
    let gate = Gate()
    /// Whether the call of the message that the gate held was over.
    let isUnwanted = Atomic(false)
    let ended = DispatchSemaphore(value: 0)

    var contentSubtype: ContentSubtype { .json }

    func marshaller<Message: Sendable>(for type: Message.Type) -> (any Marshaller<Message>)? {
      self as? any Marshaller<Message>
    }

    func encode(_ message: [UInt8]) -> MessageBuffer { MessageBuffer(message) }

    func decode(_ bytes: RawSpan) throws -> [UInt8] {
      let message = BytesMarshaller().decode(bytes)
      if message.first == 0 { throw GRPCStatus(code: .invalidArgument, message: "it begins with 0") }
      if message.first == 1 {
        gate.pass()
        isUnwanted.store(Task.isCancelled, ordering: .relaxed)
        ended.signal()
      }
      return message
    }

    func waitForEnd() { #expect(ended.wait(timeout: .now() + 200) == .success) }
  }

  /// A body of a hundred thousand bytes.
  private func large(_ first: UInt8) -> [UInt8] { [first] + [UInt8](repeating: 7, count: 99_999) }

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
    _ body: (SocketAddress, ServerCore) async throws -> Void
  ) async throws {
    var options = WireProtocolTests.server
    options.payloadFormats = [format]
    options.interceptorFactories = factories
    try await withServer([Named()], options: options, group: try LoopGroup()) {
      server,
      address async throws in
      defer { format.gate.release() }
      try await body(address, server.core)
    }
  }

  private func post(_ body: [UInt8], to peer: ConnectPeer, _ lines: [String] = []) -> HTTP1Peer.Response? {
    peer.send("POST", "/test.Test/Get", "application/json", lines, body)
  }

  @Test func largeMessagesInSlowFormatsAreDecodedOffTheLoop() async throws {
    let format = SlowFormat()
    try await with(format) { address, _ async throws in
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
    try await with(format, isIntercepted ? [PassingInterceptors()] : []) { address, _ async throws in
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
    try await with(format) { address, _ async throws in
      let response = post(large(1), to: ConnectPeer(try HTTP1Peer(address)), ["connect-timeout-ms: 50"])
      #expect(response?.text.contains("deadline_exceeded") == true)
    }
  }

  @Test func aDisconnectedClientsDecodingIsCancelled() async throws {
    let format = SlowFormat()
    try await with(format) { address, core async throws in
      let loop = core.group.loops[0]
      do {
        let peer = try HTTP1Peer(address)
        let head = ConnectPeer.head("POST", "/test.Test/Get", "application/json", ["content-length: 100000"])
        peer.raw.send(Array(head.utf8) + large(1))
        withExtendedLifetime(peer) { format.gate.waitForStart() }
      }
      await loop.until { core.connections.contains { $0.http1?.isHalfClosed == true } }
      await loop.advance(by: .seconds(6))
      await loop.until { core.connections.isEmpty }
      format.gate.release()
      // The work that waited for a thread until now would not begin.
      format.waitForEnd()
      let wasUnwanted = format.isUnwanted.load(ordering: .relaxed)
      #expect(wasUnwanted)
      #expect(post([2, 3], to: ConnectPeer(try HTTP1Peer(address)))?.body == [2, 3])
    }
  }
}
