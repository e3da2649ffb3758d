import CallTestSupport
import ServerTestSupport
import SwitchboardCall
import SwitchboardNetwork
import SwitchboardTransport
import Testing

/// The limits of connections also apply without one.
@Suite(.timeLimit(.minutes(5))) struct InProcessTests {
  private func with(
    server: ServerOptions = ServerOptions(),
    channel: ChannelOptions = ChannelOptions(),
    _ body: (Caller) async throws -> Void
  ) async throws {
    try await withChannel(try Channel(inProcess: [TestService()], options: server, channelOptions: channel)) {
      channel async throws in
      try await body(Caller(channel: channel))
    }
  }

  private let tooLarge = [UInt8](repeating: 0, count: 101)

  @Test func aStreamedRequestAboveTheLimitEndsTheCall() async throws {
    var options = ServerOptions()
    options.maxRequestSize = 100
    try await with(server: options) { caller async throws in
      let failure = await status { _ = try await caller.collect(TestService.collect, [[1], tooLarge]) }
      #expect(failure?.code == .resourceExhausted)
      #expect(
        failure?.message
          == "a request of 101 bytes is larger than the server's limit (ServerOptions.maxRequestSize): 100 bytes"
      )
    }
  }

  @Test func aResponseAboveTheLimitEndsTheCall() async throws {
    var options = ChannelOptions()
    options.responseSizeLimit = 100
    try await with(channel: options) { caller async throws in
      #expect(
        await status { _ = try await caller.get(TestService.get, tooLarge) }?.code == .resourceExhausted
      )
      let streamed = await status { _ = try await caller.update([[1], tooLarge]).collected() }
      #expect(streamed?.code == .resourceExhausted)
    }
  }

  @Test func metadataAboveTheLimitIsRefused() async throws {
    var options = ServerOptions()
    options.maxMetadataSize = 1000
    try await with(server: options) { caller async throws in
      let large = CallOptions(initialMetadata: ["large": String(repeating: "x", count: 1000)])
      #expect(await status { _ = try await caller.get(options: large) }?.code == .resourceExhausted)
    }
  }

  /// A caller may know a method by another type than the server. What the server does then does not depend on the wire.
  @Test(arguments: [Wire.ipv4, .inProcess]) func aWrongNumberOfRequestsIsUnimplemented(_ wire: Wire)
    async throws
  {
    let streamed = MethodDescriptor(service: "test.Test", method: "Get", type: .clientStreaming)
    try await TestPair.with(wire) { pair async throws in
      for requests in [[], [[1], [2]]] as [[[UInt8]]] {
        let failure = await status { _ = try await pair.collect(streamed, requests) }
        #expect(
          failure == GRPCStatus(code: .unimplemented, message: "the method takes exactly one request")
        )
      }
      #expect(try await pair.collect(streamed, [[1]]) == [1])
    }
  }

  @Test(arguments: [Wire.ipv4, .inProcess]) func oneRequestIsAStreamOfOne(_ wire: Wire) async throws {
    let single = MethodDescriptor(service: "test.Test", method: "Collect", type: .unary)
    try await TestPair.with(wire) { pair async throws in
      #expect(try await pair.get(single, [1, 2]) == [1, 2])
    }
  }
}
