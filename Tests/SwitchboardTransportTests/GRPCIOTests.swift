import CallTestSupport
import CertificateSupport
import HTTP2TestSupport
import ServerTestSupport
import SwitchboardCall
import SwitchboardNetwork
import SwitchboardTransport
import TestSupport
import Testing

/// grpcio, the C++ core behind Python, as the peer.
@Suite(.mayBlock, .serialized, .timeLimit(.minutes(5))) struct GRPCIOTests {
  @Test(arguments: [Wire.ipv4, .unix, .unixAbstract, .tls]) func grpcioCallsOurServer(_ wire: Wire)
    async throws
  {
    try await TestPair.with(wire) { pair async throws in
      var arguments = ["client", "\(pair.address)"]
      if wire == .tls { arguments += [try temporaryFile(TestCertificates.authority)] }
      let peer = try PythonPeer("grpcio_peer.py", arguments)
      var lines: [String] = []
      while let line = peer.line() { lines.append(line) }
      peer.stop()
      #expect(lines == ["done"])
    }
  }

  /// The smallest windows, which are measured: grpcio limits the pings that this takes.
  @Test func ourClientMeasuresTheLinkToGrpcio() async throws {
    let peer = try PythonPeer("grpcio_peer.py", ["server"])
    defer { peer.stop() }
    var options = ChannelOptions()
    options.streamLookahead = 65_535
    options.connectionWindow = 65_535
    try await withChannel(to: "127.0.0.1:\(try #require(peer.line()))", options: options) {
      channel async throws in
      let large = [UInt8](repeating: 7, count: 4_000_000)
      _ = try await Caller(channel: channel).get()
      let first = await channel.snapshot()?.subchannels.flatMap(\.connections)
      #expect(first?.count == 1)
      for _ in 0..<20 {
        #expect(try await Caller(channel: channel).get(TestService.get, large).count == large.count)
      }
      #expect(await channel.snapshot()?.subchannels.flatMap(\.connections) == first)
    }
  }

  @Test(arguments: [false, true]) func ourClientCallsGrpcio(_ secure: Bool) async throws {
    var arguments = ["server"]
    var options = ChannelOptions()
    if secure {
      arguments += [
        try temporaryFile(TestCertificates.serverCertificate), try temporaryFile(TestCertificates.serverKey),
      ]
      options.security = .tls(ClientTLS(trustRoots: TestCertificates.authority))
    }
    let peer = try PythonPeer("grpcio_peer.py", arguments)
    defer { peer.stop() }
    let port = try #require(peer.line())
    try await withChannel(to: "127.0.0.1:\(port)", options: options) { channel async throws in
      let caller = Caller(channel: channel)
      try await caller.callEverything()
    }
  }

  @Test func callsToGrpcioAreRetried() async throws {
    let peer = try PythonPeer("grpcio_peer.py", ["server"])
    defer { peer.stop() }
    let port = try #require(peer.line())
    let policy = try RetryPolicy(
      maxAttempts: 4,
      initialBackoff: .seconds(100),
      maxBackoff: .seconds(100),
      backoffMultiplier: 1,
      retryableStatusCodes: [.unavailable]
    )
    var options = ChannelOptions()
    let config = MethodConfig(names: [try MethodConfig.Name()], repetition: .retry(policy))
    options.serviceConfig = try ServiceConfig(methodConfigs: [config])
    try await withChannel(to: "127.0.0.1:\(port)", options: options) { channel async throws in
      let flaky = MethodDescriptor(service: "test.Test", method: "Flaky", type: .unary)
      #expect(try await Caller(channel: channel).get(flaky, Array("x".utf8)) == Array("x2".utf8))
      let update = channel.call(
        MethodDescriptor(service: "test.Test", method: "FlakyUpdate", type: .bidirectionalStreaming)
      ).bidirectionalStreaming(["a", "b", "c"].map { Array($0.utf8) })
      #expect(try await update.collected() == ["a2", "b", "c"].map { Array($0.utf8) })
    }
  }
}
