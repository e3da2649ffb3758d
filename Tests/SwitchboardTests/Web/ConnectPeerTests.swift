import CallTestSupport
import EchoService
import EchoTestSupport
import ServerTestSupport
import Switchboard
import TestSupport
import Testing

/// The Connect implementation for Python, from PyPI, as the other side of our server and of our clients.
@Suite(.mayBlock, .timeLimit(.minutes(5))) struct ConnectPeerTests {
  @Test func itsClientCallsOurServer() async throws {
    var options = ServerOptions()
    options.web = WebOptions()
    options.payloadFormats = [JSONFormat()]
    try await withServer([SafeEcho()], options: options) { _, address async throws in
      let port = "\(address)".split(separator: ":").last ?? ""
      let peer = try PythonPeer("connect_peer.py", ["client", "http://127.0.0.1:\(port)"])
      var lines: [String] = []
      while let line = peer.line() { lines.append(line) }
      #expect(lines == ["done"])
    }
  }

  struct Way: Sendable, CustomTestStringConvertible {
    let wireProtocol: CallProtocol
    let version: HTTPVersion
    let isJSON: Bool

    var testDescription: String { "\(wireProtocol) \(version) \(isJSON ? "JSON" : "binary")" }
  }

  @Test(
    arguments: [CallProtocol.connect, .grpcWeb].flatMap { name in
      [HTTPVersion.negotiated, .http1].flatMap { version in
        [false, true].map { Way(wireProtocol: name, version: version, isJSON: $0) }
      }
    }
  )
  func ourClientsCallItsServer(_ way: Way) async throws {
    let peer = try PythonPeer("connect_peer.py", ["server"])
    let port = try #require(peer.line())
    var options = ChannelOptions()
    options.wireProtocol = way.wireProtocol
    options.httpVersion = way.version
    options.connectGet = true
    try await withChannel(to: "127.0.0.1:\(port)", options: options) { channel async throws in
      var callOptions = CallOptions(timeout: .seconds(60))
      if way.isJSON { callOptions.payloadFormat = .json }
      let client = Echo_EchoClient(channel: channel, defaultCallOptions: callOptions)
      let call = client.makeGetCall(Echo_EchoRequest("hello"))
      #expect(try await call.response.text == "get: hello")
      #expect(try await call.initialMetadata["one"] == ["head"])
      #expect(try await call.trailingMetadata["two"] == ["tail"])
      let got = client.call(SafeEcho.get, callOptions) { $0.makeGetInterceptors() }
      #expect(try await got.unary(Echo_EchoRequest("got")).text == "get: got")
      let words = try await client.expand(Echo_EchoRequest("a b c")).collected().map(\.text)
      #expect(words == ["a", "b", "c"])
      let requests = ["a", "b", "c"].map { Echo_EchoRequest($0) }
      #expect(try await client.collect(requests).text == "a b c")
      if way.version == .negotiated {
        #expect(try await client.update(requests).collected().map(\.text) == ["a", "b", "c"])
      }
      let failure = await status { _ = try await client.get(Echo_EchoRequest("fail")) }
      #expect(failure?.code == .notFound)
      #expect(failure?.message == "nothing \"here\" ü")
      #expect(failure?.packedDetails != nil)
      let streamed = await status { _ = try await client.expand(Echo_EchoRequest("fail")).collected() }
      #expect(streamed?.code == .notFound)
      #expect(streamed?.message == "nothing \"here\" ü")
    }
    peer.stop()
  }
}

/// The service. Its method `Get` is called with HTTP GET.
private struct SafeEcho: CallHandlerProvider {
  static let get = ProtobufMethod<Echo_EchoRequest, Echo_EchoResponse>(
    "echo.Echo",
    "Get",
    .unary,
    idempotency: .noSideEffects
  )
  private let echo = PlainEcho()

  var serviceName: String { "echo.Echo" }

  var methodHandlers: [MethodHandler] {
    let others = echo.methodHandlers.filter { $0.method.method != "Get" }
    return others + [Self.get.unaryHandler { try await echo.get(request: $0, context: $1) }]
  }
}

/// The answers that the peer expects of a server.
private struct PlainEcho: EchoingProvider {
  /// A `google.rpc.Status` with one detail, of the type `test.Number`, whose field 1 is 7.
  private static let details: [UInt8] = {
    let any = [0x0a, 31] + Array("type.googleapis.com/test.Number".utf8) + [0x12, 2, 0x08, 7]
    let message = Array("nothing \"here\" ü".utf8)
    return [0x08, 5, 0x12, UInt8(message.count)] + message + [0x1a, UInt8(any.count)] + any
  }()

  private static var failure: GRPCStatus {
    var status = GRPCStatus(code: .notFound, message: "nothing \"here\" ü")
    status.packedDetails = details
    return status
  }

  func get(request: Echo_EchoRequest, context: ServerCallContext) async throws -> Echo_EchoResponse {
    if request.text == "fail" { throw Self.failure }
    if request.text == "sleep" { try await Task.sleep(for: .seconds(60)) }
    return .with { $0.text = "get: \(request.text)" }
  }

  func expand(
    request: Echo_EchoRequest,
    responseStream: ResponseStreamWriter<Echo_EchoResponse>,
    context: ServerCallContext
  ) async throws {
    if request.text == "fail" { throw Self.failure }
    for word in request.text.split(separator: " ") {
      try await responseStream.send(.with { $0.text = String(word) })
    }
  }
}
