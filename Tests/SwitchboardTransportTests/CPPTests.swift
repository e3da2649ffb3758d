import CallTestSupport
import CertificateSupport
import Glibc
import HTTP2TestSupport
import ServerTestSupport
import SwitchboardCall
import SwitchboardNetwork
import SwitchboardTransport
import TestSupport
import Testing

/// Debian's gRPC C++ as the peer, compiled by `scripts/interop/build-peers`.
@Suite(.mayBlock, .serialized, .timeLimit(.minutes(5))) struct CPPTests {
  private static let program = TestFolders.root.appending(path: ".build/peers/cpp_peer").path

  @Test(arguments: [Wire.ipv4, .ipv6, .unix, .tls]) func cppCallsOurServer(_ wire: Wire) async throws {
    try await TestPair.with(wire) { pair async throws in
      var arguments = ["client", "\(pair.address)"]
      if wire == .tls { arguments += [try temporaryFile(TestCertificates.authority)] }
      let peer = try ChildProcess(Self.program, arguments)
      #expect(peer.allOutput() == "done\n")
    }
  }

  @Test(arguments: [false, true]) func ourClientCallsCPP(_ secure: Bool) async throws {
    var arguments = ["server"]
    var options = ChannelOptions()
    if secure {
      arguments += [
        try temporaryFile(TestCertificates.serverCertificate), try temporaryFile(TestCertificates.serverKey),
      ]
      options.security = .tls(ClientTLS(trustRoots: TestCertificates.authority))
    }
    let peer = try ChildProcess(Self.program, arguments)
    defer { peer.stop() }
    let port = try #require(peer.line())
    try await withChannel(to: "127.0.0.1:\(port)", options: options) { channel async throws in
      try await Caller(channel: channel).callEverything()
    }
  }

  @Test func aServerThatIsKilledEndsItsCalls() async throws {
    let peer = try ChildProcess(Self.program, ["server"])
    let port = try #require(peer.line())
    try await withChannel(to: "127.0.0.1:\(port)") { channel async throws in
      let caller = Caller(channel: channel)
      #expect(try await caller.get() == [1, 2, 3])
      let call = Task { try await caller.get(TestService.hang) }
      // A response to a second call on the same connection: the first call has arrived by then.
      #expect(try await caller.get() == [1, 2, 3])
      peer.end(with: SIGKILL)
      #expect(await status { _ = try await call.value }?.code == .unavailable)
    }
  }
}
