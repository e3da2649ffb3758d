import CallTestSupport
import CertificateSupport
import ServerTestSupport
import SwitchboardCall
import SwitchboardCallObjects
import SwitchboardNetwork
import SwitchboardTransport
import TestSupport
import Testing

/// Our client and our server, in every protocol and version of HTTP that they share.
@Suite(.mayBlock, .timeLimit(.minutes(5))) struct WireProtocolTests {
  struct Way: Sendable, CustomTestStringConvertible {
    let wireProtocol: CallProtocol
    let version: HTTPVersion
    let wire: Wire

    static let all: [Way] = [CallProtocol.connect, .grpcWeb].flatMap { name in
      [HTTPVersion.negotiated, .http1].flatMap { version in
        [Wire.ipv4, .tls].map { Way(wireProtocol: name, version: version, wire: $0) }
      }
    }

    var testDescription: String { "\(wireProtocol) \(version) \(wire)" }

    var channel: ChannelOptions {
      var options = ChannelOptions()
      options.wireProtocol = wireProtocol
      options.httpVersion = version
      return options
    }
  }

  static var server: ServerOptions {
    var options = ServerOptions()
    options.web = WebOptions()
    options.payloadFormats = [BytesFormat()]
    return options
  }

  private func with(_ way: Way, _ body: (TestPair) async throws -> Void) async throws {
    try await TestPair.with(way.wire, server: Self.server, channel: way.channel, body)
  }

  @Test(arguments: Way.all) func everyCallWorks(_ way: Way) async throws {
    try await with(way) { pair async throws in try await pair.caller.callEverything() }
  }

  /// The server speaks gRPC only: the message says which option is missing there.
  @Test(arguments: [CallProtocol.connect, .grpcWeb]) func aServerWithoutTheProtocolIsReported(
    _ name: CallProtocol
  ) async throws {
    var options = ChannelOptions()
    options.wireProtocol = name
    try await TestPair.with(channel: options) { pair async throws in
      let unary = await status { _ = try await pair.get() }
      let stream = await status { _ = try await pair.expand(TestService.expand, [1]).collected() }
      for status in [unary, stream] {
        let message = try #require(status?.message)
        #expect(message.contains("ServerOptions.web"))
      }
    }
  }

  /// It can answer nothing that a client of HTTP/1.1 reads.
  @Test(arguments: [CallProtocol.connect, .grpcWeb]) func aServerWithoutHTTP1IsReported(
    _ wireProtocol: CallProtocol
  ) async throws {
    let entries = LogEntries()
    var (server, channel) = (ServerOptions(), ChannelOptions())
    server.logger = Logger(entries, minimumLevel: .warning)
    (channel.wireProtocol, channel.httpVersion) = (wireProtocol, .http1)
    try await TestPair.with(server: server, channel: channel) { pair async throws in
      let status = await status { _ = try await pair.get() }
      #expect(status?.code == .unavailable)
      #expect(
        status?.message == """
          the server speaks HTTP/2, and the channel HTTP/1.1 (ChannelOptions.httpVersion is .http1; use .negotiated, or set \
          ServerOptions.web if it is a server of Switchboard: Connect and gRPC-Web need it in any version)
          """
      )
    }
    let reason = entries.all.first { $0.message == "connection closed" }?.metadata["reason"]
    #expect(reason?.contains("ServerOptions.web is set, which Connect and gRPC-Web need") == true)
  }

  @Test(arguments: Way.all) func metadataTravelsBothWays(_ way: Way) async throws {
    try await with(way) { pair async throws in
      var options = CallOptions(timeout: .seconds(60))
      options.initialMetadata = ["one": "a"]
      options.initialMetadata.add(name: "one", value: "b")
      options.initialMetadata.add(name: "two-bin", binary: [1, 2, 255])
      let call = pair.channel.call(TestService.reflect, options: options).makeUnaryCall([])
      let response = try await call.response
      #expect(String(decoding: response, as: UTF8.self).hasSuffix(" true"))
      let headers = try await call.initialMetadata
      #expect(headers["one"] == ["a", "b"])
      #expect(headers[binary: "two-bin"] == [[1, 2, 255]])
      let trailers = try await call.trailingMetadata
      #expect(trailers["one"] == ["a", "b"])
      #expect(trailers[binary: "two-bin"] == [[1, 2, 255]])
    }
  }

  @Test(arguments: Way.all) func failuresKeepTheirTrailers(_ way: Way) async throws {
    try await with(way) { pair async throws in
      let call = pair.channel.call(TestService.fail, options: CallOptions()).makeUnaryCall(
        Array("no \"ü\"\n".utf8)
      )
      let failure = await status { _ = try await call.response }
      #expect(failure == GRPCStatus(code: .failedPrecondition, message: "no \"ü\"\n"))
      #expect(try await call.trailingMetadata["why"] == ["asked to"])
    }
  }

  @Test(arguments: Way.all, [MessageCompression.gzip, .deflate, .zstd, .brotli])
  func messagesAreCompressed(_ way: Way, _ compression: MessageCompression) async throws {
    try await with(way) { pair async throws in
      let payload = [UInt8](repeating: 7, count: 200_000)
      let options = CallOptions(compression: compression)
      #expect(try await pair.get(TestService.get, payload, options: options) == payload)
    }
  }

  @Test(arguments: Way.all) func callsWaitForAFreeHTTP1Connection(_ way: Way) async throws {
    var channel = way.channel
    channel.maxHTTP1Connections = 2
    try await TestPair.with(way.wire, server: Self.server, channel: channel) { pair async throws in
      try await withThrowingTaskGroup(of: Bool.self) { group in
        for number in 0..<20 as Range<UInt8> {
          group.addTask { try await pair.get(TestService.get, [number]) == [number] }
        }
        for try await isRight in group { #expect(isRight) }
      }
      if way.version == .http1 { #expect(await pair.server.snapshot().connections.count <= 2) }
    }
  }

  @Test(arguments: Way.all) func aCancelledCallEndsOnTheServer(_ way: Way) async throws {
    try await with(way) { pair async throws in
      let call = pair.channel.call(TestService.hang, options: CallOptions()).makeUnaryCall([1])
      await pair.service.hanging.wait()
      call.cancel()
      await pair.service.cancelled.wait()
      #expect(try await pair.get() == [1, 2, 3])
    }
  }

  @Test func gRPCNeedsHTTP2() {
    var options = ChannelOptions()
    options.httpVersion = .http1
    #expect(throws: GRPCStatus.self) { try Channel(target: "127.0.0.1:1", options: options) }
  }

  @Test(arguments: [HTTPVersion.negotiated, .http1]) func methodsWithoutSideEffectsUseGet(
    _ version: HTTPVersion
  ) async throws {
    var channel = ChannelOptions()
    channel.wireProtocol = .connect
    channel.httpVersion = version
    channel.connectGet = true
    try await TestPair.with(server: Self.server, channel: channel) { pair async throws in
      for request in [[], [1, 250, 255], [UInt8](repeating: 1, count: 10_000)] as [[UInt8]] {
        #expect(try await pair.get(TestService.safe, request) == request)
      }
    }
  }
}
