import SwitchboardCall
import Testing

@testable import SwitchboardHTTP2

/// grpcio, the C++ core behind Python, on the other side.
@Suite(.serialized, .timeLimit(.minutes(2))) struct GRPCIOTests {
  @Test(arguments: [Wire.ipv4, .unix, .tls]) func grpcioCallsOurServer(_ wire: Wire) async throws {
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

  /// The smallest windows, which are measured: grpcio polices the pings that this takes.
  @Test func ourClientMeasuresTheLinkToGrpcio() async throws {
    let peer = try PythonPeer("grpcio_peer.py", ["server"])
    defer { peer.stop() }
    let group = try LoopGroup()
    var options = ChannelOptions()
    options.streamWindow = 65_535
    options.connectionWindow = 65_535
    let channel = try Channel(
      target: "127.0.0.1:\(try #require(peer.line()))",
      options: options,
      group: group
    )
    let transport = try #require(channel.transport as? ClientChannel)
    let large = [UInt8](repeating: 7, count: 4_000_000)
    let connection: @Sendable () -> ObjectIdentifier? = {
      transport.connections.first.map(ObjectIdentifier.init)
    }
    _ = try await Caller(channel: channel).get()
    let first = await group.loops[0].onLoop(connection)
    for _ in 0..<20 {
      #expect(try await Caller(channel: channel).get(TestService.get, large).count == large.count)
    }
    #expect(await group.loops[0].onLoop(connection) == first)
    await channel.shutDown(grace: .zero)
  }

  @Test(arguments: [false, true]) func ourClientCallsGrpcio(_ secure: Bool) async throws {
    var arguments = ["server"]
    var options = ChannelOptions()
    if secure {
      arguments += [
        try temporaryFile(TestCertificates.serverCertificate), try temporaryFile(TestCertificates.serverKey),
      ]
      options.tls = ClientTLS(trustRoots: TestCertificates.authority)
    }
    let peer = try PythonPeer("grpcio_peer.py", arguments)
    defer { peer.stop() }
    let port = try #require(peer.line())
    let channel = try Channel(target: "127.0.0.1:\(port)", options: options)
    let caller = Caller(channel: channel)
    try await callEverything(caller)
    await channel.shutDown(grace: .zero)
  }

  private func callEverything(_ caller: Caller) async throws {
    for size in [0, 1, 1000, 100_000, 4_000_000] {
      let payload = (0..<size).map { UInt8(truncatingIfNeeded: $0 &* 31) }
      #expect(try await caller.get(TestService.get, payload) == payload)
    }
    #expect(try await caller.expand(TestService.expand, Array(0..<200)).collected() == (0..<200).map { [$0] })
    let parts = (0..<500).map { [UInt8](repeating: UInt8($0 % 256), count: $0) }
    #expect(try await caller.collect(TestService.collect, parts) == parts.flatMap { $0 })
    #expect(try await caller.update(parts).collected() == parts)
    for compression in [MessageCompression.gzip, .deflate] {
      let payload = [UInt8](repeating: 7, count: 100_000)
      let options = CallOptions(compression: compression)
      #expect(try await caller.get(TestService.get, payload, options: options) == payload)
    }
    #expect(
      await status { _ = try await caller.get(TestService.fail, Array("50% of ü".utf8)) }
        == GRPCStatus(code: .failedPrecondition, message: "50% of ü")
    )
    #expect(await status { _ = try await caller.get(TestService.missing) }?.code == .unimplemented)
    #expect(
      await status {
        _ = try await caller.get(TestService.hang, options: CallOptions(timeout: .milliseconds(200)))
      }?
      .code == .deadlineExceeded
    )
    let endless = AsyncStream<[UInt8]> { [UInt8](repeating: 0, count: 1000) }
    #expect(
      await status { _ = try await caller.collect(TestService.ignore, endless) }?.code == .resourceExhausted
    )
  }
}
