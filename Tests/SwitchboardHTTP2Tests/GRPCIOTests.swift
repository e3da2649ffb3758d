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
    try await caller.callEverything()
    await channel.shutDown(grace: .zero)
  }
}
